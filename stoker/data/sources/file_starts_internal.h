// FileStarts: where the elements of each of several files begin, for sources that read the files
// one after the other and by position.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoker {

// Not thread-safe while files are added, thread-safe afterwards.
class FileStarts {
 public:
  // The next file has `elements` elements, 0 or more.
  void Add(int64_t elements) { starts_.push_back(starts_.back() + elements); }

  // The elements of all files.
  int64_t size() const { return starts_.back(); }
  // The positions of a file's elements: begin(file) to end(file) - 1.
  int64_t begin(size_t file) const { return starts_[file]; }
  int64_t end(size_t file) const { return starts_[file + 1]; }

  struct Place {
    size_t file;
    int64_t number;  // of the element in the file
  };
  // REQUIRES: 0 <= position < size(). Cost: a binary search over the files, none where there is
  // one.
  Place At(int64_t position) const {
    if (starts_.size() == 2) return {0, position};
    const auto next = std::ranges::upper_bound(starts_, position);
    const auto file = static_cast<size_t>(next - starts_.begin()) - 1;
    return {file, position - starts_[file]};
  }

 private:
  std::vector<int64_t> starts_ = {0};  // of each file; the last is the end of all
};

}  // namespace stoker
