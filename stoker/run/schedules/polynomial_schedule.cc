#include "stoker/run/schedules/polynomial_schedule.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

class Polynomial final : public Schedule {
 public:
  Polynomial(const PolynomialSchedule& options, const SchedulePlan& plan)
      : options_(options),
        length_(options.epochs ? plan.StepsIn(*options.epochs)
                               : static_cast<double>(plan.total_steps)) {}

  ScheduleValue At(int64_t step) const override {
    const double left = 1 - std::min(static_cast<double>(step) / length_, 1.0);
    const double a = options_.final_fraction;
    return {.lr = options_.lr * (a + (1 - a) * std::pow(left, options_.power)), .momentum = {}};
  }

 private:
  const PolynomialSchedule options_;
  const double length_;  // in steps
};

}  // namespace

void PolynomialSchedule::Describe(OptionTable<PolynomialSchedule>& table) {
  using O = PolynomialSchedule;
  table.Field("lr", &O::lr, "learning rate at the start", MoreThan(0))
      .Field("power", &O::power, "1 is a straight line; more sinks faster at first", MoreThan(0))
      .Field("final_fraction", &O::final_fraction, "what the rate sinks to, as a share of lr",
             Between(0, 1))
      .Field("epochs", &O::epochs, "until it has sunk; auto: the whole run", MoreThan(0));
}

Result<std::unique_ptr<Schedule>> PolynomialSchedule::Build(const SchedulePlan& plan) const {
  return std::make_unique<Polynomial>(*this, plan);
}

}  // namespace stoker
