#pragma once

#include "stoker/run/registry.h"

namespace stoker {

struct ConstantSchedule {
  static constexpr std::string_view kName = "constant";
  static constexpr std::string_view kHelp = "The same learning rate at every step.";
  double lr = 0.001;

  static void Describe(OptionTable<ConstantSchedule>& table);
  Result<std::unique_ptr<Schedule>> Build(const SchedulePlan& plan) const;
};

}  // namespace stoker
