#include "stoker/run/schedules/plateau_schedule.h"

#include <algorithm>

#include "stoker/base/json_or_null.h"
#include "stoker/run/evaluation.h"

namespace stoker {
namespace {

class Plateau final : public Schedule {
 public:
  explicit Plateau(const PlateauSchedule& options) : options_(options), lr_(options.lr) {}

  ScheduleValue At(int64_t) const override { return {.lr = lr_, .momentum = {}}; }

  bool follows_evaluations() const override { return true; }
  bool follows_accuracy() const override { return options_.monitor == "accuracy"; }

  void Observe(const Evaluation& evaluation) override {
    const std::optional<double> measured =
        follows_accuracy() ? evaluation.accuracy : std::optional(evaluation.loss);
    if (!measured) return;
    const double value = *measured;
    if (IsBetter(value)) {
      best_ = value;
      bad_ = 0;
    } else {
      ++bad_;
    }
    if (cooling_ > 0) {
      --cooling_;
      bad_ = 0;
    }
    if (bad_ <= options_.patience) return;
    lr_ = std::max(lr_ * options_.factor, std::min(options_.min_lr, lr_));
    cooling_ = options_.cooldown;
    bad_ = 0;
  }

  Json Save() const override {
    return {{"lr", lr_}, {"best", OrNull(best_)}, {"bad", bad_}, {"cooling", cooling_}};
  }

  Status Restore(const Json& state) override {
    try {
      Plateau restored(options_);
      state.at("lr").get_to(restored.lr_);
      state.at("bad").get_to(restored.bad_);
      state.at("cooling").get_to(restored.cooling_);
      if (const Json& best = state.at("best"); !best.is_null()) restored.best_ = best.get<double>();
      lr_ = restored.lr_;
      best_ = restored.best_;
      bad_ = restored.bad_;
      cooling_ = restored.cooling_;
      return OkStatus();
    } catch (const Json::exception& error) {
      return DataLoss("the schedule's state is not as plateau writes it: {}", error.what());
    }
  }

 private:
  bool IsBetter(double value) const {
    if (!best_) return true;
    const double margin = options_.absolute ? options_.threshold : *best_ * options_.threshold;
    return options_.monitor == "loss" ? value < *best_ - margin : value > *best_ + margin;
  }

  const PlateauSchedule options_;
  double lr_;
  std::optional<double> best_;
  int64_t bad_ = 0;      // evaluations in a row that were no better
  int64_t cooling_ = 0;  // evaluations still to come that do not count
};

}  // namespace

void PlateauSchedule::Describe(OptionTable<PlateauSchedule>& table) {
  using O = PlateauSchedule;
  table.Field("lr", &O::lr, "learning rate at the start", MoreThan(0))
      .Field("monitor", &O::monitor, "what must get better", OneOf{{"loss", "accuracy"}})
      .Field("factor", &O::factor, "what the rate is multiplied by",
             OptionRange{.low = 0, .high = 1, .low_open = true})
      .Field("patience", &O::patience, "evaluations in a row that need not be better", AtLeast(0))
      .Field("threshold", &O::threshold, "how much better counts as better, as a share of the best",
             AtLeast(0))
      .Field("absolute", &O::absolute, "the threshold is a difference, not a share")
      .Field("cooldown", &O::cooldown, "evaluations that do not count after the rate has sunk",
             AtLeast(0))
      .Field("min_lr", &O::min_lr, "it sinks no lower", AtLeast(0));
}

Result<std::unique_ptr<Schedule>> PlateauSchedule::Build(const SchedulePlan&) const {
  return std::make_unique<Plateau>(*this);
}

}  // namespace stoker
