#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Stacks consecutive elements along a new first dimension and pads the smaller ones at the end of
// every dimension: fields of shape [T, ...] become [size, longest T of the batch, ...].
//
//   fields   the fields to pad; empty: every field whose shape differs between elements
//   padding  the padding value, one for all of these fields or one for each
//   shape    pads to this instead of to the longest: an extent for each dimension with x between
//            them, ? for the longest, such as 512 or 3x?x224; one for all fields or one for each
//   lengths  adds for each padded field `x` a field `x_length`: int64 [size], the length of each
//            element; [size, k] if k dimensions differ. For a field in `fields` without varying
//            dimensions, that of the first dimension
//   mask     adds `x_mask`: bool [size, longest T], over the dimensions that differ; true for the
//            element's own values
//
// By position if the input is. Errors: an element that does not fit the shape, by its index.
// Resuming costs as much as for the input; no element is held.
struct PaddedBatch {
  static constexpr std::string_view kName = "padded_batch";
  static constexpr std::string_view kHelp =
      "Stacks consecutive elements of different sizes, padded to the longest or to a given shape.";
  static constexpr bool kArranges = false;
  int64_t size = 32;
  bool drop_remainder = false;
  std::vector<std::string> fields;
  std::vector<double> padding = {0};
  std::vector<std::string> shape;
  bool lengths = false;
  bool mask = false;

  static void Describe(OptionTable<PaddedBatch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
