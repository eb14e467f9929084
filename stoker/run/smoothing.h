// Smoothing: the running mean that makes a noisy curve readable, for plots and finders.
#pragma once

#include <cmath>

namespace stoker {

// An exponential mean with Adam's bias correction (arXiv 1412.6980; TensorBoard uses the same
// formula): after n values
//   m = weight * m + (1 - weight) * value,  mean = m / (1 - weight^n).
// One thread at a time.
class SmoothedValue {
 public:
  // `weight`: of earlier values, in [0, 1); 0 smooths nothing.
  explicit SmoothedValue(double weight) : weight_(weight) {}

  // Adds `value` and returns the mean. Returns a value that is not finite without adding it.
  double Add(double value) {
    if (!std::isfinite(value)) return value;
    state_.sum = weight_ * state_.sum + (1 - weight_) * value;
    state_.left *= weight_;
    return state_.sum / (1 - state_.left);
  }

  // The state of a mean.
  struct State {
    double sum = 0;   // m
    double left = 1;  // weight^n
  };
  const State& state() const { return state_; }
  void Restore(const State& state) { state_ = state; }

 private:
  double weight_;
  State state_;
};

}  // namespace stoker
