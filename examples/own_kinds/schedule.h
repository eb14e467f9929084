// A schedule of your own: `schedule: {inverse_root: {lr: 0.002, warmup: 20}}`.
#pragma once

#include <algorithm>
#include <cmath>

#include "stoker/run/registry.h"

namespace own {

// Rises evenly to lr during the first `warmup` steps, then falls with the root of the step. A pure
// function of the step, so a checkpoint stores nothing for it.
class InverseRootSchedule final : public stoker::Schedule {
 public:
  InverseRootSchedule(double lr, int64_t warmup) : lr_(lr), warmup_(warmup) {}

  stoker::ScheduleValue At(int64_t step) const override {
    const auto now = static_cast<double>(step + 1), top = static_cast<double>(warmup_);
    return {.lr = lr_ * std::min(now / top, std::sqrt(top / now)), .momentum = {}};
  }

 private:
  const double lr_;
  const int64_t warmup_;
};

struct InverseRoot {
  static constexpr std::string_view kName = "inverse_root";
  static constexpr std::string_view kHelp = "Rises for some steps, then falls with their root.";
  double lr = 0.001;
  int64_t warmup = 100;

  static void Describe(stoker::OptionTable<InverseRoot>& table) {
    table.Field("lr", &InverseRoot::lr, "the highest learning rate", stoker::MoreThan(0))
        .Field("warmup", &InverseRoot::warmup, "steps until then", stoker::AtLeast(1));
  }
  stoker::Result<std::unique_ptr<stoker::Schedule>> Build(
      const stoker::SchedulePlan& /*plan*/) const {
    return std::make_unique<InverseRootSchedule>(lr, warmup);
  }
};

}  // namespace own
