#include "stoker/train/schedules/cosine_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stoker {
namespace {

class Cosine final : public Schedule {
 public:
  Cosine(const CosineSchedule& options, const SchedulePlan& plan)
      : options_(options),
        total_(static_cast<double>(plan.total_steps)),
        warmup_(std::round(options.warmup * total_)) {}

  ScheduleValue At(int64_t step) const override {
    const auto t = static_cast<double>(step);
    if (t < warmup_) return {.lr = options_.lr * t / warmup_, .momentum = {}};
    // A warm-up over everything leaves no room to sink: the peak stays.
    const double room = std::max(total_ - warmup_, 1.0);
    const double tau = std::min((t - warmup_) / room, 1.0);
    const double sunk = (1 + std::cos(std::numbers::pi * tau)) / 2;
    const double a = options_.final_fraction;
    return {.lr = options_.lr * (a + (1 - a) * sunk), .momentum = {}};
  }

 private:
  const CosineSchedule options_;
  const double total_;
  const double warmup_;
};

}  // namespace

void CosineSchedule::Describe(OptionTable<CosineSchedule>& table) {
  table.Field("lr", &CosineSchedule::lr, "learning rate at the peak", MoreThan(0))
      .Field("warmup", &CosineSchedule::warmup, "share of all steps that warm up", Between(0, 1))
      .Field("final_fraction", &CosineSchedule::final_fraction,
             "what the rate sinks to, as a share of the peak", Between(0, 1));
}

Result<std::unique_ptr<Schedule>> CosineSchedule::Build(const SchedulePlan& plan) const {
  return std::make_unique<Cosine>(*this, plan);
}

}  // namespace stoker
