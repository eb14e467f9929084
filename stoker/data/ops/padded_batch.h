#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Consecutive elements stacked along a new first dimension, the smaller ones padded at the end of
// every dimension: fields of shape [T, ...] become [size, longest T of the batch, ...].
//
//   fields   what is padded; empty: every field whose shape differs between elements
//   padding  the value, one for all of these fields or one for each
//   shape    pads to this instead of to the longest: an extent for each dimension with x between
//            them, ? for the longest, such as 512 or 3x?x224; one for all fields or one for each
//   lengths  adds for each padded field `x` a field `x_length`: int64 [size], how long each element
//            was; [size, k] where k dimensions differ. Of a field that is named in `fields` though
//            no dimension differs, the first counts
//   mask     adds `x_mask`: bool [size, longest T], over the dimensions that differ; true where a
//            value is the element's own
//
// By position where the input is, so batches are made on several threads. Errors: an element that
// does not fit the shape, by its index. Resuming costs what the input's costs: no element is held.
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
