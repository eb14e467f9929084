// WeightAverage: a second set of weights, the average of those during training. It is evaluated and
// written at the end; training itself does not use it.
//
//   train:
//     average: ema              # or {kind: swa, start: 0.75}
//
// At its n-th update, n = 1, 2, ...:
//   ema  a = d a + (1 - d) w, d = min(decay, 1 - (1 + (n - 1) / gamma)^-power): it follows quickly
//        at first (d = 0 at the first update), later slowly
//   swa  the plain mean, a += (w - a) / n (Izmailov et al., arXiv 1803.05407)
// Averages floating-point buffers, such as batch norm's running moments, like weights, and copies
// others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"

namespace stoker {

// One thread at a time. Functions throw c10::Error.
class WeightAverage {
 public:
  // If the recipe has no average, all calls do nothing.
  //   plan  of the run; without steps there is no average
  WeightAverage(const AverageOptions& options, const SchedulePlan& plan, const Model& model);

  bool kept() const { return !averages_.empty(); }

  // Call it after each optimizer step; `step`, from 1, decides whether this is an update.
  void Observe(int64_t step);

  // While it lives the model has the averages as weights, once there has been an update.
  class Use {
   public:
    explicit Use(WeightAverage* average);
    Use(Use&& other) noexcept : average_(std::exchange(other.average_, nullptr)) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Use& operator=(Use&&) = delete;
    ~Use();

   private:
    WeightAverage* average_;  // null: nothing to undo
  };
  Use UseInModel() { return Use(this); }

  // Returns the averages by the names of the weights, sharing memory.
  NamedTensors Averages() const;
  // Returns the number of updates: an int64 scalar, into which restoring copies.
  const at::Tensor& updates() const { return updates_; }

 private:
  void Exchange();

  AverageOptions options_;
  int64_t first_ = 0;  // earlier steps are not updates
  int64_t every_ = 1;
  NamedTensors weights_;              // of the model
  std::vector<at::Tensor> averages_;  // as many
  at::Tensor updates_;
};

// Returns the decay of an exponential average at update n, as above.
double EmaDecay(const AverageOptions& options, int64_t n);

}  // namespace stoker
