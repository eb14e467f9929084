#include "stoker/run/run_schedule.h"

#include <cmath>
#include <numbers>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/run/build_kind.h"

namespace stoker {
namespace {

struct Around {
  int64_t steps_per_value = 1;
  double scale = 1;
  double warmup_steps = 0;
  double warmup_from = 0;
  bool warmup_cosine = false;
};

class RunSchedule final : public Schedule {
 public:
  RunSchedule(std::unique_ptr<Schedule> inner, const Around& around)
      : inner_(std::move(inner)), around_(around) {}

  ScheduleValue At(int64_t step) const override {
    ScheduleValue value = inner_->At(step / around_.steps_per_value);
    value.lr *= around_.scale * Warm(static_cast<double>(step));
    return value;
  }

  bool follows_evaluations() const override { return inner_->follows_evaluations(); }
  bool follows_accuracy() const override { return inner_->follows_accuracy(); }
  void Observe(const Evaluation& evaluation) override { inner_->Observe(evaluation); }
  Json Save() const override { return inner_->Save(); }
  Status Restore(const Json& state) override { return inner_->Restore(state); }

 private:
  double Warm(double step) const {
    if (step >= around_.warmup_steps) return 1;
    const double p = step / around_.warmup_steps;
    const double risen = around_.warmup_cosine ? (1 - std::cos(std::numbers::pi * p)) / 2 : p;
    return around_.warmup_from + (1 - around_.warmup_from) * risen;
  }

  const std::unique_ptr<Schedule> inner_;
  const Around around_;
};

// The plan as the schedule sees it when one of its steps is a whole epoch.
SchedulePlan OverEpochs(const SchedulePlan& plan) {
  const int64_t epochs = (plan.total_steps + plan.steps_per_epoch - 1) / plan.steps_per_epoch;
  return {.total_steps = epochs, .steps_per_epoch = 1};
}

}  // namespace

std::optional<int64_t> BatchSizeOf(const DataRecipe& data, std::string_view input) {
  for (const Field& field : data.train.spec().fields) {
    if (field.name != input || field.shape.empty()) continue;
    if (field.shape.front() > 0) return field.shape.front();
  }
  std::optional<int64_t> size;
  const std::optional<ConfigNode> pipeline = WholePipeline(data.filled, "train");
  if (!pipeline) return size;
  const auto note = [&](const ConfigNode& stage, auto batch) {
    const ConfigNode* const options = stage.Find(decltype(batch)::kName);
    if (options != nullptr && ParseOptionsOf(*options, batch).ok()) size = batch.size;
  };
  for (const ConfigNode& stage : pipeline->items) {
    note(stage, Batch());
    note(stage, PaddedBatch());
  }
  return size;
}

Result<double> LrScaleOf(const LrScalingOptions& options, std::optional<int64_t> batch) {
  if (options.rule == "none") return 1.0;
  if (!batch) {
    return InvalidArgument(
        "lr_scaling: {} scales the learning rate with the batch, but how many samples a batch of "
        "data.train has is not known; put a `batch` into the pipeline, or take lr_scaling out and "
        "give the schedule the rate that you want",
        options.rule);
  }
  const double ratio = static_cast<double>(*batch) / static_cast<double>(options.base_batch);
  return options.rule == "linear" ? ratio : std::sqrt(ratio);
}

Result<std::unique_ptr<Schedule>> BuildRunSchedule(const TrainRecipe& train,
                                                   const SchedulePlan& plan,
                                                   std::optional<int64_t> batch) {
  const bool by_epoch = train.options.schedule_every == "epoch";
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Schedule> inner,
                          BuildKind(train.schedule, by_epoch ? OverEpochs(plan) : plan));
  STOKER_ASSIGN_OR_RETURN(const double scale, LrScaleOf(train.lr_scaling, batch));
  const double unscaled = scale > 1 ? 1 / scale : 0;
  return std::make_unique<RunSchedule>(
      std::move(inner), Around{.steps_per_value = by_epoch ? plan.steps_per_epoch : 1,
                               .scale = scale,
                               .warmup_steps = plan.StepsIn(train.warmup.epochs),
                               .warmup_from = train.warmup.from.value_or(unscaled),
                               .warmup_cosine = train.warmup.shape == "cosine"});
}

}  // namespace stoker
