#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// A straight line from lr * start_fraction at step 0 to lr * end_fraction at step N, where it
// stays; N is the length in steps, the whole run if `epochs` is auto. As torch's
// LinearLR(start_factor, end_factor, total_iters = N).
struct LinearSchedule {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kHelp =
      "The learning rate moves along a straight line, by default down to nothing at the end.";
  double lr = 0.003;
  double start_fraction = 1;
  double end_fraction = 0;
  std::optional<double> epochs;

  static void Describe(OptionTable<LinearSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
