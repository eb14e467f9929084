// The names of the labels 0, 1, ... of a data set. Sources and transforms that map words to numbers
// know them; `stoker pack` stores them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes of sources that may know the names. Thread-safe.
class LabelNames {
 public:
  virtual ~LabelNames() = default;

  // Returns the names; empty if the classes have none.
  virtual std::vector<std::string> ClassNames() const = 0;
};

// Implemented by transforms that map words to numbers (`lookup`, `words`). Thread-safe.
class WordNumbers {
 public:
  virtual ~WordNumbers() = default;

  // Return the field that holds the numbers, and the words in their order; empty if the transform
  // has no list of them.
  virtual const std::string& numbered_field() const = 0;
  virtual const std::vector<std::string>& words() const = 0;
  // Returns the number of the first word.
  virtual int64_t first_number() const = 0;
};

// Returns the last stage that gave the words of `field` numbers, if it has a list of them, else
// null; null too where pipelines with different lists are combined. Valid as long as the dataset.
const WordNumbers* FindWordNumbers(const Dataset& dataset, std::string_view field);

// Returns the names of the labels in the field `label`: the words that they were mapped from, else
// the names of the first source among all inputs that has some.
std::vector<std::string> FindClassNames(const Dataset& dataset, std::string_view label = "label");

// The names in the files of one source, which must agree; a file may have none.
class AgreedClassNames {
 public:
  // Errors: kInvalidArgument names the files and the first class that differs.
  Status Add(const std::string& path, std::vector<std::string> names);

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string path_;
  std::vector<std::string> names_;
};

// Returns the first difference of two lists: "number 3 is 'cat' there and 'dog' here". REQUIRES:
// they differ.
std::string FirstDifferenceOfClasses(const std::vector<std::string>& there,
                                     const std::vector<std::string>& here);

// For formats without a place for the names: a file beside the data has the names, in order, one a
// line.

// Returns "x.tfrecord.classes.txt" for "x.tfrecord" and for "x-00003-of-00128.tfrecord".
std::string ClassNamesFileOf(const std::string& path);

// kInvalidArgument for a name that is empty or has a line break.
Status CheckClassNames(const std::vector<std::string>& names);

// Writes that file, atomically. Errors: those above and of io/atomic_file.h.
Status WriteClassNames(const std::string& path, const std::vector<std::string>& names);

// Returns the names beside these files, or none if there is no such file. Errors: those of
// AgreedClassNames and of reading, kDataLoss for a file with an empty line.
Result<std::vector<std::string>> ReadClassNamesBeside(const std::vector<std::string>& paths);

}  // namespace stoker
