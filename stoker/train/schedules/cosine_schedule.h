#pragma once

#include "stoker/train/registry.h"

namespace stoker {

// A linear warm-up, then half a cosine. With W = round(warmup * T) of the T steps, at step t:
//   t < W:  lr * t / W                                                  (0 at the first step)
//   else:   lr * (a + (1 - a) * (1 + cos(pi * tau)) / 2),  tau = (t - W) / (T - W),  a =
//   final_fraction
// so the peak is at t = W, and lr * a would be reached at t = T, one step behind the last.
// Frameworks disagree here; this is the formula of reference implementations in JAX (optax's
// warmup_cosine_decay_schedule).
struct CosineSchedule {
  static constexpr std::string_view kName = "cosine";
  static constexpr std::string_view kHelp = "Linear warm-up, then down along half a cosine.";
  double lr = 0.003;
  double warmup = 0.05;
  double final_fraction = 0;

  static void Describe(OptionTable<CosineSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
