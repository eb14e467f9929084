// Runs a learning-rate range test (lr_range.h) on a recipe: a model of its own goes through the
// training data once, the rate rising from step to step. Nothing is written, and no run's weights
// are touched.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"
#include "stoker/train/tune/lr_range.h"

namespace stoker {

struct LrSearch {
  LrCurve curve;
  std::optional<LrSuggestions> suggestions;
  bool diverged = false;
  double seconds = 0;
  std::string device;   // "cpu (AVX512)"
  Choices choices;      // as a run of the recipe would make them
  double lr_scale = 1;  // of the recipe's lr_scaling: a schedule's rate is a suggestion over this
  std::string key;      // of the rate in the recipe: "train.schedule.one_cycle.max_lr"
};

// The steps are those of training: device, precision and all else that a run chooses are chosen as
// by a run (tuner.h), and accumulation, clipping, parameter groups and the optimizer's
// options hold; schedule and warm-up do not. Batches go on into further epochs where `steps` asks
// for that.
//   told  after each step; false ends the test, whose curve is then what there is so far
// Errors: those of CheckLrRange, of MakePlan and of the steps; a loss that is not finite at once,
// at the lowest rate (kFailedPrecondition).
Result<LrSearch> FindLr(const Recipe& recipe, const LrRangeOptions& options,
                        const std::function<bool(int64_t step, double loss)>& told);

// The key of the highest rate of the recipe's schedule, by its dotted path.
std::string LrKeyOf(const TrainRecipe& train);

}  // namespace stoker
