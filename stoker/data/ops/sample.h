#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Draws elements at random with given probabilities, in random order, anew each epoch: PyTorch's
// WeightedRandomSampler(weights, num_samples, replacement). An element's weight is
//   weight            the value of that field, or
//   label, weights    weights[value of the field label]: a weight for each class, or
//   weights           weights[its position]: a weight for each element, or
//   (none of them)    1.
// With replacement draws are independent. Without, each draw takes one of the remaining elements
// with probability proportional to weight, as long as any has a weight above 0. By position, so a
// saved position is one number.
//
// The input must be read by position, in the same order in every pass. If weights come from fields,
// the first pass makes every element once, so put sample before costly stages. Memory, outside the
// budget: 8 bytes an element with replacement, none if no weights are given. Without replacement 8
// bytes as well, temporarily 16 more, and the orders of the last epochs read, 4 bytes a draw, as
// many as fit into 64 MiB and at least two; each epoch begins with a sort of the elements, and so
// does each read if more epochs interleave than orders are kept (a shuffle that follows a repeat).
// The key of an element is its position in the output, so later random stages treat repeated
// elements differently each time.
struct Sample {
  static constexpr std::string_view kName = "sample";
  static constexpr std::string_view kHelp =
      "Draws elements at random by weight, with or without replacement (weighted sampling).";
  static constexpr bool kArranges = true;
  std::optional<int64_t> count;
  std::string weight;
  std::string label;
  std::vector<double> weights;
  bool replacement = true;
  std::optional<int64_t> seed;

  static void Describe(OptionTable<Sample>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
