#include "stoker/run/schedules/multi_step_schedule.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

class MultiStep final : public Schedule {
 public:
  MultiStep(const MultiStepSchedule& options, const SchedulePlan& plan)
      : lr_(options.lr), gamma_(options.gamma) {
    for (const double epoch : options.milestones) milestones_.push_back(plan.StepsIn(epoch));
  }

  ScheduleValue At(int64_t step) const override {
    const auto passed =
        std::ranges::upper_bound(milestones_, static_cast<double>(step)) - milestones_.begin();
    return {.lr = lr_ * std::pow(gamma_, static_cast<double>(passed)), .momentum = {}};
  }

 private:
  const double lr_;
  const double gamma_;
  std::vector<double> milestones_;  // in steps, rising
};

}  // namespace

void MultiStepSchedule::Describe(OptionTable<MultiStepSchedule>& table) {
  using O = MultiStepSchedule;
  table.Field("lr", &O::lr, "learning rate at the start", MoreThan(0))
      .Field("milestones", &O::milestones, "epochs at which it drops; may be fractions", AtLeast(0))
      .Required()
      .Field("gamma", &O::gamma, "what the rate is multiplied by at each", MoreThan(0));
}

Result<std::unique_ptr<Schedule>> MultiStepSchedule::Build(const SchedulePlan& plan) const {
  for (size_t i = 1; i < milestones.size(); ++i) {
    if (milestones[i] > milestones[i - 1]) continue;
    return InvalidArgument("multi_step: milestone {} stands after {}; write them in rising order",
                           milestones[i], milestones[i - 1]);
  }
  return std::make_unique<MultiStep>(*this, plan);
}

}  // namespace stoker
