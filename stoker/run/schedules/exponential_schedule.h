#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// lr * gamma^(step / steps_per_epoch): decreases at every step, by gamma in an epoch. With
// train.schedule_every: epoch as torch's ExponentialLR.
struct ExponentialSchedule {
  static constexpr std::string_view kName = "exponential";
  static constexpr std::string_view kHelp =
      "The learning rate sinks to the same share of itself in every epoch.";
  double lr = 0.003;
  double gamma = 0.9;

  static void Describe(OptionTable<ExponentialSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
