#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Stacks consecutive elements along a new first dimension: fields of shape [...] become [size,
// ...]. The last batch of an epoch has the remaining elements, unless drop_remainder. Shapes must
// be known and equal, or with `ragged` differ in the first extent alone.
//
//   ragged  each field `x` of shape [T, ...] whose T differs between elements becomes the values of
//           all of them, one element's after the other's, [sum of T, ...], and a field `x_offsets`
//           is added: int64 [size + 1], where each element's values begin and the last one's end.
//           Where all elements have the same shapes nothing is ragged
struct Batch {
  static constexpr std::string_view kName = "batch";
  static constexpr std::string_view kHelp =
      "Stacks consecutive elements along a new first dimension.";
  static constexpr bool kArranges = false;
  int64_t size = 32;
  bool drop_remainder = false;
  bool ragged = false;

  static void Describe(OptionTable<Batch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
