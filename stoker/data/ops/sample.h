#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Elements drawn at random with given probabilities, in random order, anew each epoch: PyTorch's
// WeightedRandomSampler(weights, num_samples, replacement). An element's weight is
//   weight            the value of that field, or
//   label, weights    weights[value of the field label]: a weight for each class, or
//   weights           weights[its position]: a weight for each element, or
//   (none of them)    1.
// With replacement every draw is independent of the others. Without, each draw takes one of those
// left, with probability by weight, as long as there are any with a weight above 0. By position, so
// a saved position is one number.
//
// The input must be read by position, in the same order in every pass. Where weights come from
// fields, every element is made once when a pass is first opened, so put sample before what is
// costly. Memory, outside the budget: 8 bytes an element with replacement, nothing where all have
// the same weight because none is given. Without replacement 8 as well, 16 more at times, and the
// orders of the epochs read last, 4 bytes a draw, as many as 64 MiB hold and at least two; each
// epoch begins with a sort of the elements, and each read does so where more epochs interleave than
// have their orders kept (a shuffle behind a repeat). The key of an element is its position here,
// so what comes behind treats an element that comes twice differently each time.
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
