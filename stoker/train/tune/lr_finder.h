// Runs a learning-rate range test (lr_range.h) on a recipe: trains a new model once through the
// training data while the rate increases from step to step. Writes nothing and changes no run.
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
  std::string device;  // "cpu (AVX512)"
  Choices choices;     // those of a run of the recipe
  double lr_scale =
      1;  // of the recipe's lr_scaling: divide a suggestion by it to get the schedule's rate
  std::string key;  // of the rate in the recipe: "train.schedule.one_cycle.max_lr"
};

// The steps are those of training: device, precision and all other choices are made as by a run
// (step_tuner.h), and accumulation, clipping, parameter groups and the optimizer's options apply;
// schedule and warm-up do not. Batches continue into further epochs if `steps` requires it.
//   told  called after each step; false ends the test with the curve so far
// Errors: those of CheckLrRange, of MakePlan and of the steps; a loss that is not finite at once,
// at the lowest rate (kFailedPrecondition).
Result<LrSearch> FindLr(const Recipe& recipe, const LrRangeOptions& options,
                        const std::function<bool(int64_t step, double loss)>& told);

// Returns the dotted path of the key of the highest rate of the recipe's schedule.
std::string LrKeyOf(const TrainRecipe& train);

}  // namespace stoker
