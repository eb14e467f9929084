#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Reports the gradient noise scale (noise_average.h) as the figure noise_scale of metrics.jsonl and
// TensorBoard: about the number of samples a step beyond which larger batches gain little.
//   accumulate > 1   of every `every`th step the first of its batches is the small one, the whole
//                    step the big one: costs two norms of the gradients
//   accumulate = 1   every `every`th step the first half of its batch goes forward and back once
//                    more by itself: costs half a step, so 1 / (2 * every) of the time, 2.5 % at 20
// Steps whose batches are not all as large are left out. Weights, buffers and random draws are the
// same as without it. Where a norm takes its statistics from the batch, a sample's gradient depends
// on the others in its batch, and the figure is an approximation.
struct NoiseScale {
  static constexpr std::string_view kName = "noise_scale";
  static constexpr std::string_view kHelp =
      "Reports the gradient noise scale: about the batch beyond which more samples gain little.";
  int64_t every = 20;
  double smooth = 0.95;

  static void Describe(OptionTable<NoiseScale>& table);
  Result<std::shared_ptr<Callback>> Build() const;
};

}  // namespace stoker
