// How large elements and their fields are, in bytes, as `stoker inspect` tells it.
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
  Json ToJson() const;         // {"smallest", "largest", "mean"}; null where nothing was added
  std::string ToText() const;  // "8 bytes", "3 to 12 bytes, 7.5 on average"; empty likewise
};

// Sizes of values in memory, not of what holds them in the file. One thread at a time.
class ElementSizes {
 public:
  explicit ElementSizes(size_t fields) : fields_(fields) {}

  // `times` elements with arrays of the sizes of these, one for each field.
  void Add(std::span<const Array> arrays, int64_t times = 1);

  const SizeSummary& element() const { return element_; }
  const SizeSummary& field(size_t number) const { return fields_[number]; }

  // " (8 bytes)", to stand behind how many there are; empty where there are none.
  std::string InBrackets() const;

 private:
  SizeSummary element_;
  std::vector<SizeSummary> fields_;
};

}  // namespace stoker
