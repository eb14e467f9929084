// Smoothing: the running mean that makes a noisy curve readable, for plots and finders.
#pragma once

#include <cmath>

namespace stoker {

// An exponential mean that is not drawn to zero at first (Adam's correction of bias, arXiv
// 1412.6980; TensorBoard smooths by the same formula): after n values
//   m = weight * m + (1 - weight) * value,  mean = m / (1 - weight^n).
// One thread at a time.
class SmoothedValue {
 public:
  // `weight`: of what was before, in [0, 1); 0 smooths nothing.
  explicit SmoothedValue(double weight) : weight_(weight) {}

  // The mean with `value` in it. One that is not finite is given back and not remembered.
  double Add(double value) {
    if (!std::isfinite(value)) return value;
    state_.sum = weight_ * state_.sum + (1 - weight_) * value;
    state_.left *= weight_;
    return state_.sum / (1 - state_.left);
  }

  // What a mean goes on from.
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
