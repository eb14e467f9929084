// The sizes of elements and their fields in bytes, for `stoker inspect`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/json.h"

namespace stoker {

struct SizeSummary {
  int64_t count = 0;
  uint64_t smallest = 0, largest = 0, all = 0;

  void Add(uint64_t bytes, int64_t times = 1);
  Json ToJson() const;         // {"smallest", "largest", "mean"}; null if nothing was added
  std::string ToText() const;  // "8 bytes", "3 to 12 bytes, 7.5 on average"; empty likewise
};

// Sizes of values in memory, not in the file. One thread at a time.
class ElementSizes {
 public:
  explicit ElementSizes(size_t fields) : fields_(fields) {}

  // Adds `times` elements with arrays of these sizes, one for each field.
  void Add(std::span<const Array> arrays, int64_t times = 1);

  const SizeSummary& element() const { return element_; }
  const SizeSummary& field(size_t number) const { return fields_[number]; }

  // Returns " (8 bytes)", to follow the number of elements; empty if there are none.
  std::string InBrackets() const;

 private:
  SizeSummary element_;
  std::vector<SizeSummary> fields_;
};

}  // namespace stoker
