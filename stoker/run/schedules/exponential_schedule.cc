#include "stoker/run/schedules/exponential_schedule.h"

#include <cmath>

namespace stoker {
namespace {

class Exponential final : public Schedule {
 public:
  Exponential(const ExponentialSchedule& options, const SchedulePlan& plan)
      : options_(options), epoch_(plan.StepsIn(1)) {}

  ScheduleValue At(int64_t step) const override {
    const double epochs = static_cast<double>(step) / epoch_;
    return {.lr = options_.lr * std::pow(options_.gamma, epochs), .momentum = {}};
  }

 private:
  const ExponentialSchedule options_;
  const double epoch_;  // in steps
};

}  // namespace

void ExponentialSchedule::Describe(OptionTable<ExponentialSchedule>& table) {
  table.Field("lr", &ExponentialSchedule::lr, "learning rate at the start", MoreThan(0))
      .Field("gamma", &ExponentialSchedule::gamma, "what is left of the rate after an epoch",
             MoreThan(0));
}

Result<std::unique_ptr<Schedule>> ExponentialSchedule::Build(const SchedulePlan& plan) const {
  return std::make_unique<Exponential>(*this, plan);
}

}  // namespace stoker
