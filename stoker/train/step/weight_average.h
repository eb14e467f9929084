// WeightAverage: a second set of weights, the mean of those that training went through. It is what
// is evaluated and written at the end; training itself does not see it.
//
//   train:
//     average: ema              # or {kind: swa, start: 0.75}
//
// At its n-th update, n = 1, 2, ...:
//   ema  a = d a + (1 - d) w,  d = min(decay, 1 - (1 + (n - 1) / gamma)^-power): at first it
//   follows
//        quickly (d = 0 at the first update), later slowly
//   swa  the plain mean, a += (w - a) / n (Izmailov et al., arXiv 1803.05407)
// Floating-point buffers, such as batch norm's running moments, are averaged like weights, others
// are copied.
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
  // Where the recipe wants none, nothing is kept and all calls do nothing.
  //   plan  of the run; without steps there is no average
  WeightAverage(const AverageOptions& options, const SchedulePlan& plan, const Model& model);

  bool kept() const { return !averages_.empty(); }

  // To be called after each optimizer step; `step`, from 1, decides whether this is an update.
  void Observe(int64_t step);

  // While it lives the model has the averages for weights, once there has been an update.
  class Use {
   public:
    explicit Use(WeightAverage* average);
    Use(Use&& other) noexcept : average_(std::exchange(other.average_, nullptr)) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Use& operator=(Use&&) = delete;
    ~Use();

   private:
    WeightAverage* average_;  // null: nothing to take back
  };
  Use UseInModel() { return Use(this); }

  // The averages by the names of the weights, sharing memory.
  NamedTensors Averages() const;
  // Updates so far: an int64 scalar, which restoring copies into.
  const at::Tensor& updates() const { return updates_; }

 private:
  void Exchange();

  AverageOptions options_;
  int64_t first_ = 0;  // steps before this one are no updates
  int64_t every_ = 1;
  NamedTensors weights_;              // of the model
  std::vector<at::Tensor> averages_;  // as many
  at::Tensor updates_;
};

// The decay of an exponential average at update n, as above.
double EmaDecay(const AverageOptions& options, int64_t n);

}  // namespace stoker
