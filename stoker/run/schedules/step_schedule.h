#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// lr * gamma^floor(epoch / every), where epoch = step / steps_per_epoch. With a whole number of
// epochs as torch's StepLR(step_size=every), stepped once an epoch.
struct StepSchedule {
  static constexpr std::string_view kName = "step";
  static constexpr std::string_view kHelp =
      "Multiplies the learning rate by gamma every few epochs.";
  double lr = 0.001;
  double every = 1;
  double gamma = 0.1;

  static void Describe(OptionTable<StepSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
