#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Smith and Topin, "Super-convergence" (arXiv 1708.07120), with the semantics of torch's
// OneCycleLR: the rate rises from max_lr / div_factor to max_lr while the momentum falls, then
// falls to (max_lr / div_factor) / final_div_factor while the momentum rises. With T steps the rise
// ends at step pct_start * T - 1 and the fall at T - 1; with three phases, they end at pct_start *
// T - 1 (rise), 2 * pct_start * T - 2 (back to the initial rate) and T - 1 (down to the final one).
struct OneCycleSchedule {
  static constexpr std::string_view kName = "one_cycle";
  static constexpr std::string_view kHelp =
      "The learning rate rises, then sinks far below its start; momentum does the opposite.";
  double max_lr = 0.003;
  double pct_start = 0.3;
  std::string anneal = "cos";
  bool three_phase = false;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;

  static void Describe(OptionTable<OneCycleSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
