#include "stoker/run/schedules/linear_schedule.h"

#include <algorithm>

namespace stoker {
namespace {

class Linear final : public Schedule {
 public:
  Linear(const LinearSchedule& options, const SchedulePlan& plan)
      : options_(options),
        length_(options.epochs ? plan.StepsIn(*options.epochs)
                               : static_cast<double>(plan.total_steps)) {}

  ScheduleValue At(int64_t step) const override {
    const double p = std::min(static_cast<double>(step) / length_, 1.0);
    const double fraction =
        options_.start_fraction + (options_.end_fraction - options_.start_fraction) * p;
    return {.lr = options_.lr * fraction, .momentum = {}};
  }

 private:
  const LinearSchedule options_;
  const double length_;  // in steps
};

}  // namespace

void LinearSchedule::Describe(OptionTable<LinearSchedule>& table) {
  using O = LinearSchedule;
  table.Field("lr", &O::lr, "learning rate that the fractions are of", MoreThan(0))
      .Field("start_fraction", &O::start_fraction, "share of lr at the first step", Between(0, 1))
      .Field("end_fraction", &O::end_fraction, "share of lr at the end of the line", Between(0, 1))
      .Field("epochs", &O::epochs, "length of the line; auto: the whole run", MoreThan(0));
}

Result<std::unique_ptr<Schedule>> LinearSchedule::Build(const SchedulePlan& plan) const {
  return std::make_unique<Linear>(*this, plan);
}

}  // namespace stoker
