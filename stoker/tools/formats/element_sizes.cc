#include "stoker/tools/formats/element_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/tools/program/text.h"

namespace stoker {

void SizeSummary::Add(uint64_t bytes, int64_t times) {
  smallest = count == 0 ? bytes : std::min(smallest, bytes);
  largest = std::max(largest, bytes);
  all += bytes * static_cast<uint64_t>(times);
  count += times;
}

Json SizeSummary::ToJson() const {
  if (count == 0) return nullptr;
  return {{"smallest", smallest},
          {"largest", largest},
          {"mean", static_cast<double>(all) / static_cast<double>(count)}};
}

std::string SizeSummary::ToText() const {
  if (count == 0) return "";
  std::string text =
      RangeText(static_cast<int64_t>(smallest), static_cast<int64_t>(largest), "byte");
  if (smallest == largest) return text;
  const double mean = static_cast<double>(all) / static_cast<double>(count);
  return fmt::format("{}, {} on average", text, FigureText(mean));
}

void ElementSizes::Add(std::span<const Array> arrays, int64_t times) {
  uint64_t all = 0;
  for (size_t f = 0; f < arrays.size(); ++f) {
    fields_[f].Add(arrays[f].num_bytes(), times);
    all += arrays[f].num_bytes();
  }
  element_.Add(all, times);
}

std::string ElementSizes::InBrackets() const {
  return element_.count == 0 ? "" : fmt::format(" ({})", element_.ToText());
}

}  // namespace stoker
