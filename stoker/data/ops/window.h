#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Stacks runs of elements, which may overlap, along a new first dimension: window w holds `size`
// elements w * shift, w * shift + stride, ... of the epoch. Fields of shape [...] become [size,
// ...]; shapes must be known and equal.
//
// The last windows, which extend beyond the end, have the remaining elements (at least one), unless
// drop_remainder. With shift 1 over 5 elements and size 3: 0 1 2, 1 2 3, 2 3 4, 3 4, 4.
//
// By position if the input is: an element is then made again for each window that has it. In order,
// up to (size - 1) * stride + 1 elements are held; a saved position has their keys, or an earlier
// state of the input, and restoring reads them again.
struct Window {
  static constexpr std::string_view kName = "window";
  static constexpr std::string_view kHelp =
      "Stacks runs of elements that may overlap along a new first dimension.";
  static constexpr bool kArranges = false;
  int64_t size = 0;
  std::optional<int64_t> shift;
  int64_t stride = 1;
  bool drop_remainder = false;

  static void Describe(OptionTable<Window>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
