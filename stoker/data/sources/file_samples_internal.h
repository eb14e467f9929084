// Sources whose elements are the contents of files, with labels from a list.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"

namespace stoker {

// The files and labels. Immutable; thread-safe.
class FileSamples {
 public:
  virtual ~FileSamples() = default;
  virtual int64_t size() const = 0;
  // Returns 0 <= sample < size(), 0 <= file < the number of fields that are files.
  virtual std::string PathOf(int64_t sample, size_t file) const = 0;
  virtual int64_t LabelOf(int64_t sample) const = 0;
  virtual std::vector<std::string> ClassNames() const { return {}; }
  // Returns the file that lists them; empty: none does.
  virtual std::string ListedIn() const { return ""; }
};

// The fields of an element: uint8[-1] for each file, in this order, then, if named, {label:
// int64[]} and {path: uint8[-1]}, the path of the first file.
struct FileSampleFields {
  std::vector<std::string> files;
  std::string label;
  std::string path;
};

// Makes a source by position over them. Reads files when an element is read; an element's key is
// its number. Errors while reading: those of File; kDataLoss for a file that changes meanwhile,
// kResourceExhausted for one of more than 2 GiB.
Dataset FileSamplesDataset(std::string_view name, std::string details,
                           const FileSampleFields& fields,
                           std::shared_ptr<const FileSamples> samples);

}  // namespace stoker
