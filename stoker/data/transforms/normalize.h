#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/image/normalize.h"

namespace stoker {

// y = (x * scale - mean) / std, from uint8 or float32 to float32; what torchvision's ToTensor and
// Normalize do together. It is computed as (x - mean / scale) * (scale / std) with both constants
// rounded once from double, and the difference and the product rounded once each, so every CPU
// gives the same bits. Several means or stds are one for each channel, which is the first
// dimension: [C, H, W]; with `per: last` one for each extent of the last dimension, such as each
// number of a step of a sequence [steps, n], or each channel of [H, W, C].
//
// With `per_sample` mean and std are computed for each sample over all its values: std is that of
// the population (divided by n, not n - 1), and a sample of equal values becomes zeros. A sample is
// one element, so after `batch` the whole batch would have one mean and one std: put it before
// `batch`.
//
// In a recipe `mean: auto` has mean and std learned from the training data (data/learn): one for
// each extent of the first dimension (a channel of [C, H, W], a column of [n]), with `per: last` of
// the last one, or, with `per: field`, one for all values. They are those of the values after
// `scale`; std is that of the population. Pipelines built in C++ give numbers.
struct Normalize {
  static constexpr std::string_view kName = "normalize";
  static constexpr std::string_view kHelp =
      "Turns pixels into float32 numbers around zero: (x * scale - mean) / std, for each channel.";
  static constexpr bool kArranges = false;
  static constexpr std::string_view kLearns[] = {"mean", "std"};
  std::vector<double> mean = {0};
  std::vector<double> std = {1};
  std::optional<double> scale;
  bool per_sample = false;
  std::string field = "image";
  std::string per = "channel";

  bool by_last_dimension() const { return per == "last"; }

  static void Describe(OptionTable<Normalize>& table);
  Result<Dataset> Build(Dataset input) const;
};

// Returns `scale`, or what it is by itself for a field of that type.
double ScaleOf(const Normalize& options, DType dtype);

// Returns its constants for a field of uint8 or float32: one for all channels, or one for each.
// Errors: kInvalidArgument if float32 cannot hold one, or means and stds do not fit each other.
Result<std::vector<ShiftScale>> NormalizeConstants(const Normalize& options, DType dtype);

}  // namespace stoker
