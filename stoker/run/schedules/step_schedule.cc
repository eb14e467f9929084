#include "stoker/run/schedules/step_schedule.h"

#include <cmath>

namespace stoker {
namespace {

class Step final : public Schedule {
 public:
  Step(const StepSchedule& options, const SchedulePlan& plan) : options_(options), plan_(plan) {}

  ScheduleValue At(int64_t step) const override {
    const double epoch = static_cast<double>(step) / static_cast<double>(plan_.steps_per_epoch);
    const double drops = std::floor(epoch / options_.every);
    return {.lr = options_.lr * std::pow(options_.gamma, drops), .momentum = {}};
  }

 private:
  const StepSchedule options_;
  const SchedulePlan plan_;
};

}  // namespace

void StepSchedule::Describe(OptionTable<StepSchedule>& table) {
  table.Field("lr", &StepSchedule::lr, "learning rate at the start", MoreThan(0))
      .Field("every", &StepSchedule::every, "epochs between two drops; may be a fraction",
             MoreThan(0))
      .Field("gamma", &StepSchedule::gamma, "what the rate is multiplied by at a drop",
             MoreThan(0));
}

Result<std::unique_ptr<Schedule>> StepSchedule::Build(const SchedulePlan& plan) const {
  return std::make_unique<Step>(*this, plan);
}

}  // namespace stoker
