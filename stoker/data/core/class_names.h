// What the labels 0, 1, ... of a data set stand for: known to sources and to what makes numbers of
// words, kept by `stoker pack`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes of sources that may know. Thread-safe.
class LabelNames {
 public:
  virtual ~LabelNames() = default;

  // Empty where the classes have no names.
  virtual std::vector<std::string> ClassNames() const = 0;
};

// Implemented by transforms that make numbers of words (`lookup`). Thread-safe.
class WordNumbers {
 public:
  virtual ~WordNumbers() = default;

  // The field that holds the numbers, and what 0, 1, ... of them stand for.
  virtual const std::string& numbered_field() const = 0;
  virtual const std::vector<std::string>& words() const = 0;
};

// Of the labels, which the field `label` holds: the words that they were made of, else the names
// that the first source among all inputs has, where one has some.
std::vector<std::string> FindClassNames(const Dataset& dataset, std::string_view label = "label");

// The names that the files of one source tell, which must agree; a file may tell none.
class AgreedClassNames {
 public:
  // Errors: kInvalidArgument names the files and the first class that differs.
  Status Add(const std::string& path, std::vector<std::string> names);

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string path_;
  std::vector<std::string> names_;
};

// "number 3 is 'cat' there and 'dog' here": where two lists differ, which they do.
std::string FirstDifferenceOfClasses(const std::vector<std::string>& there,
                                     const std::vector<std::string>& here);

// Formats that have no place for the names have them in a file beside it: the names, in order, each
// on a line of its own.

// "x.tfrecord.classes.txt" for "x.tfrecord" as for "x-00003-of-00128.tfrecord".
std::string ClassNamesFileOf(const std::string& path);

// kInvalidArgument for a name that is empty or has a line break.
Status CheckClassNames(const std::vector<std::string>& names);

// Writes it, atomically. Errors: those above and of io/atomic_file.h.
Status WriteClassNames(const std::string& path, const std::vector<std::string>& names);

// The names beside these files, or none where no such file is there. Errors: those of
// AgreedClassNames and of reading, kDataLoss for a file with an empty line.
Result<std::vector<std::string>> ReadClassNamesBeside(const std::vector<std::string>& paths);

}  // namespace stoker
