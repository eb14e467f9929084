// PartStarts: where the elements of each of several parts begin, for sources that read the parts
// one after the other and by position. A part is a file, or a group of rows in one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stoker {

// Not thread-safe while parts are added, thread-safe afterwards.
class PartStarts {
 public:
  // The next part has `elements` elements, 0 or more.
  void Add(int64_t elements) { starts_.push_back(starts_.back() + elements); }

  // The elements of all parts.
  int64_t size() const { return starts_.back(); }
  // The positions of a part's elements: begin(part) to end(part) - 1.
  int64_t begin(size_t part) const { return starts_[part]; }
  int64_t end(size_t part) const { return starts_[part + 1]; }

  struct Place {
    size_t part;
    int64_t number;  // of the element in the part
  };
  // REQUIRES: 0 <= position < size(). Cost: a binary search over the parts, none if there is one.
  Place At(int64_t position) const {
    if (starts_.size() == 2) return {0, position};
    const auto next = std::ranges::upper_bound(starts_, position);
    const auto part = static_cast<size_t>(next - starts_.begin()) - 1;
    return {part, position - starts_[part]};
  }

 private:
  std::vector<int64_t> starts_ = {0};  // of each part; the last is the end of all
};

}  // namespace stoker
