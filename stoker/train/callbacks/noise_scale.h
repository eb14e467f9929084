#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Reports the gradient noise scale (noise_average.h) as the figure noise_scale of metrics.jsonl and
// TensorBoard: about the number of samples a step beyond which larger batches gain little.
//   accumulate > 1   every `every`th step, its first batch is the small one and the whole step the
//                    big one: costs two norms of the gradients
//   accumulate = 1   every `every`th step, the first half of its batch goes through forward and
//                    backward passes once more: costs half a step, so 1 / (2 * every) of the time,
//                    2.5 % at 20
// Skips steps with batches of different sizes. Does not change weights, buffers and random draws.
// With batch statistics in norms, a sample's gradient depends on the others in its batch, and the
// figure is an approximation.
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
