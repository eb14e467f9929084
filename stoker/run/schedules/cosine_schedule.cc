#include "stoker/run/schedules/cosine_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker {
namespace {

// Where in which cycle a step lies.
struct CyclePosition {
  double cycle = 0;
  double tau = 0;  // 0 at its peak, 1 at its end
};

class Cosine final : public Schedule {
 public:
  Cosine(const CosineSchedule& options, const SchedulePlan& plan)
      : options_(options),
        total_(static_cast<double>(plan.total_steps)),
        warmup_(std::round(options.warmup * total_)),
        first_cycle_(options.first_cycle ? plan.StepsIn(*options.first_cycle) : 0) {}

  ScheduleValue At(int64_t step) const override {
    const auto t = static_cast<double>(step);
    if (t < warmup_) return {.lr = options_.lr * t / warmup_, .momentum = {}};
    const CyclePosition at = Locate(t - warmup_);
    const double peak = options_.lr * std::pow(options_.cycle_decay, at.cycle);
    const double sunk = (1 + std::cos(std::numbers::pi * at.tau)) / 2;
    const double a = options_.final_fraction;
    return {.lr = peak * (a + (1 - a) * sunk), .momentum = {}};
  }

 private:
  CyclePosition Locate(double since_warmup) const {
    if (first_cycle_ == 0) {
      // A warm-up over everything leaves no room to sink: the peak stays.
      return {.cycle = 0, .tau = std::min(since_warmup / std::max(total_ - warmup_, 1.0), 1.0)};
    }
    if (options_.cycle_factor == 1) {
      const double cycle = std::floor(since_warmup / first_cycle_);
      return {.cycle = cycle, .tau = (since_warmup - cycle * first_cycle_) / first_cycle_};
    }
    // Cycles grow, so there are few; sums are exact where a logarithm may miss by one.
    CyclePosition at;
    double start = 0, length = first_cycle_;
    for (; since_warmup >= start + length; ++at.cycle) {
      start += length;
      length *= options_.cycle_factor;
    }
    at.tau = (since_warmup - start) / length;
    return at;
  }

  const CosineSchedule options_;
  const double total_;
  const double warmup_;
  const double first_cycle_;  // in steps; 0: no restarts
};

}  // namespace

void CosineSchedule::Describe(OptionTable<CosineSchedule>& table) {
  using O = CosineSchedule;
  table.Field("lr", &O::lr, "learning rate at the peak", MoreThan(0))
      .Field("warmup", &O::warmup, "share of all steps that warm up", Between(0, 1))
      .Field("final_fraction", &O::final_fraction, "what the rate sinks to, as a share of the peak",
             Between(0, 1))
      .Field("first_cycle", &O::first_cycle,
             "epochs until the first restart; auto: it sinks once, over the whole run", MoreThan(0))
      .Field("cycle_factor", &O::cycle_factor, "length of a cycle, by that of the one before",
             AtLeast(1))
      .Field("cycle_decay", &O::cycle_decay, "peak of a cycle, by that of the one before",
             OptionRange{.low = 0, .high = 1, .low_open = true});
}

Result<std::unique_ptr<Schedule>> CosineSchedule::Build(const SchedulePlan& plan) const {
  if (first_cycle && plan.StepsIn(*first_cycle) < 1) {
    return InvalidArgument(
        "cosine: first_cycle ({} epochs) is {:.3g} steps long, and an epoch has {}; a cycle needs "
        "1 at least",
        *first_cycle, plan.StepsIn(*first_cycle), plan.steps_per_epoch);
  }
  return std::make_unique<Cosine>(*this, plan);
}

}  // namespace stoker
