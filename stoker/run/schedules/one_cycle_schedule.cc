#include "stoker/run/schedules/one_cycle_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace stoker {
namespace {

// From the end of the phase before (or step 0) to step `end`, which need not be whole.
struct Phase {
  double end;
  double from_lr, to_lr;
  double from_momentum, to_momentum;
};

std::vector<Phase> PhasesOf(const OneCycleSchedule& o, double total) {
  const double initial = o.max_lr / o.div_factor;
  const double final = initial / o.final_div_factor;
  const double low = o.base_momentum, high = o.max_momentum;
  const double peak = o.pct_start * total - 1;
  if (!o.three_phase) {
    return {{peak, initial, o.max_lr, high, low}, {total - 1, o.max_lr, final, low, high}};
  }
  return {{peak, initial, o.max_lr, high, low},
          {2 * o.pct_start * total - 2, o.max_lr, initial, low, high},
          {total - 1, initial, final, high, high}};
}

class OneCycle final : public Schedule {
 public:
  OneCycle(const OneCycleSchedule& options, const SchedulePlan& plan)
      : linear_(options.anneal == "linear"),
        cycle_momentum_(options.cycle_momentum),
        phases_(PhasesOf(options, static_cast<double>(plan.total_steps))) {}

  ScheduleValue At(int64_t step) const override {
    const auto t = static_cast<double>(step);
    double start = 0;
    size_t i = 0;
    while (i + 1 < phases_.size() && t > phases_[i].end) start = phases_[i++].end;
    const Phase& phase = phases_[i];
    // Short runs have phases of no length.
    const double length = phase.end - start;
    const double p = length > 0 ? std::clamp((t - start) / length, 0.0, 1.0) : 1.0;
    ScheduleValue value{.lr = Anneal(phase.from_lr, phase.to_lr, p), .momentum = {}};
    if (cycle_momentum_) value.momentum = Anneal(phase.from_momentum, phase.to_momentum, p);
    return value;
  }

 private:
  double Anneal(double from, double to, double p) const {
    if (linear_) return from + (to - from) * p;
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * p));
  }

  const bool linear_;
  const bool cycle_momentum_;
  const std::vector<Phase> phases_;
};

}  // namespace

void OneCycleSchedule::Describe(OptionTable<OneCycleSchedule>& table) {
  using O = OneCycleSchedule;
  table.Field("max_lr", &O::max_lr, "learning rate at the peak", MoreThan(0))
      .Field("pct_start", &O::pct_start, "share of all steps that rise", Between(0, 1))
      .Field("anneal", &O::anneal, "how values move between phases", OneOf{{"cos", "linear"}})
      .Field("three_phase", &O::three_phase,
             "sink as long as it rose, then down to the final rate in what is left")
      .Field("div_factor", &O::div_factor, "the first rate is max_lr / div_factor", MoreThan(0))
      .Field("final_div_factor", &O::final_div_factor,
             "the last rate is the first / final_div_factor", MoreThan(0))
      .Field("cycle_momentum", &O::cycle_momentum,
             "move the optimizer's momentum (Adam's first beta) against the rate")
      .Field("base_momentum", &O::base_momentum, "momentum at the peak", Between(0, 1))
      .Field("max_momentum", &O::max_momentum, "momentum at the start and the end", Between(0, 1));
}

Result<std::unique_ptr<Schedule>> OneCycleSchedule::Build(const SchedulePlan& plan) const {
  if (three_phase && pct_start > 0.5) {
    return InvalidArgument(
        "one_cycle: pct_start is {}; with three_phase the rise is done twice, so at most 0.5",
        pct_start);
  }
  return std::make_unique<OneCycle>(*this, plan);
}

}  // namespace stoker
