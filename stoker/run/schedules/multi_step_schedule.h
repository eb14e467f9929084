#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// lr * gamma^(milestones passed), where milestone m is passed from step m * steps_per_epoch on.
// With whole epochs as torch's MultiStepLR, stepped once an epoch. The usual schedule of ResNets:
// {lr: 0.1, milestones: [30, 60, 80]} of 90 epochs.
struct MultiStepSchedule {
  static constexpr std::string_view kName = "multi_step";
  static constexpr std::string_view kHelp =
      "Multiplies the learning rate by gamma at the epochs named.";
  double lr = 0.1;
  std::vector<double> milestones;
  double gamma = 0.1;

  static void Describe(OptionTable<MultiStepSchedule>& table);
  // Errors: milestones that do not ascend.
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
