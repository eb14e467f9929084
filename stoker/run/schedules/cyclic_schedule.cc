#include "stoker/run/schedules/cyclic_schedule.h"

#include <cmath>

namespace stoker {
namespace {

class Cyclic final : public Schedule {
 public:
  Cyclic(const CyclicSchedule& options, const SchedulePlan& plan)
      : options_(options),
        up_(plan.StepsIn(options.up)),
        down_(plan.StepsIn(options.down.value_or(options.up))) {}

  ScheduleValue At(int64_t step) const override {
    const auto t = static_cast<double>(step);
    const double cycle = std::floor(t / (up_ + down_));
    const double within = t - cycle * (up_ + down_);
    const double risen = within <= up_ ? within / up_ : (up_ + down_ - within) / down_;
    const double height = risen * Scale(cycle, t);
    const CyclicSchedule& o = options_;
    ScheduleValue value{.lr = o.base_lr + (o.max_lr - o.base_lr) * height, .momentum = {}};
    if (o.cycle_momentum) {
      value.momentum = o.max_momentum - (o.max_momentum - o.base_momentum) * height;
    }
    return value;
  }

 private:
  double Scale(double cycle, double step) const {
    if (options_.mode == "triangular2") return std::exp2(-cycle);
    if (options_.mode == "exp_range") return std::pow(options_.gamma, step);
    return 1;
  }

  const CyclicSchedule options_;
  const double up_;  // in steps, like down_
  const double down_;
};

}  // namespace

void CyclicSchedule::Describe(OptionTable<CyclicSchedule>& table) {
  using O = CyclicSchedule;
  table.Field("base_lr", &O::base_lr, "learning rate at the foot of a cycle", MoreThan(0))
      .Field("max_lr", &O::max_lr, "learning rate at the top of the first cycle", MoreThan(0))
      .Field("up", &O::up, "epochs from foot to top; may be a fraction", MoreThan(0))
      .Field("down", &O::down, "epochs from top to foot; auto: as many as up", MoreThan(0))
      .Field("mode", &O::mode, "whether tops stay, halve each cycle, or sink with gamma each step",
             OneOf{{"triangular", "triangular2", "exp_range"}})
      .Field("gamma", &O::gamma, "of exp_range: what is left of the height after a step",
             OptionRange{.low = 0, .high = 1, .low_open = true})
      .Field("cycle_momentum", &O::cycle_momentum,
             "move the optimizer's momentum (Adam's first beta) against the rate")
      .Field("base_momentum", &O::base_momentum, "momentum at the top", Between(0, 1))
      .Field("max_momentum", &O::max_momentum, "momentum at the foot", Between(0, 1));
}

Result<std::unique_ptr<Schedule>> CyclicSchedule::Build(const SchedulePlan& plan) const {
  if (base_lr > max_lr || base_momentum > max_momentum) {
    return InvalidArgument(
        "cyclic: base_lr ({}) must not be above max_lr ({}), nor base_momentum ({}) above "
        "max_momentum ({})",
        base_lr, max_lr, base_momentum, max_momentum);
  }
  if (const double steps = plan.StepsIn(up + down.value_or(up)); steps < 2) {
    return InvalidArgument(
        "cyclic: up and down ({} and {} epochs) make a cycle of {:.3g} steps, and an epoch has {}; "
        "a cycle needs 2 at least",
        up, down.value_or(up), steps, plan.steps_per_epoch);
  }
  return std::make_unique<Cyclic>(*this, plan);
}

}  // namespace stoker
