#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// A linear warm-up, then half a cosine, once or repeatedly (Loshchilov and Hutter, "SGDR", arXiv
// 1608.03983). With W = round(warmup * T) of the T steps, at step t:
//   t < W:  lr * t / W                                                  (0 at the first step)
//   else:   p * (a + (1 - a) * (1 + cos(pi * tau)) / 2),  a = final_fraction
// Without restarts p = lr and tau = (t - W) / (T - W), so the peak is at t = W, and lr * a would be
// reached at t = T, one step after the last. Frameworks differ here; this is the formula of optax's
// warmup_cosine_decay_schedule. With restarts, tau runs from 0 to 1 in each cycle; the first is
// first_cycle epochs long, each cycle_factor times as long as the previous one, with a peak p of
// cycle_decay times the previous one. With W = 0 and cycle_decay = 1 as torch's
// CosineAnnealingWarmRestarts(T_0, T_mult).
struct CosineSchedule {
  static constexpr std::string_view kName = "cosine";
  static constexpr std::string_view kHelp =
      "Linear warm-up, then down along half a cosine, with restarts where wanted.";
  double lr = 0.003;
  double warmup = 0.05;
  double final_fraction = 0;
  std::optional<double> first_cycle;
  double cycle_factor = 1;
  double cycle_decay = 1;

  static void Describe(OptionTable<CosineSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
