// Many short texts in one block of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// For millions of file names: each takes its characters and eight bytes, without an allocation.
class TextTable {
 public:
  void Add(std::string_view text) {
    characters_ += text;
    ends_.push_back(characters_.size());
  }
  int64_t size() const { return std::ssize(ends_); }
  // REQUIRES: 0 <= i < size(). Valid until the next Add.
  std::string_view operator[](int64_t i) const {
    const auto at = static_cast<size_t>(i);
    const size_t begin = at == 0 ? 0 : ends_[at - 1];
    return std::string_view(characters_).substr(begin, ends_[at] - begin);
  }
  void ShrinkToFit() {
    characters_.shrink_to_fit();
    ends_.shrink_to_fit();
  }

 private:
  std::string characters_;
  std::vector<size_t> ends_;
};

}  // namespace stoker
