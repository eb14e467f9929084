#include "stoker/train/tune/lr_finder.h"

#include <fmt/format.h>

#include "stoker/base/clock.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/device/torch_error.h"
#include "stoker/run/run_schedule.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/plan_of_steps.h"
#include "stoker/train/tune/step_tuner.h"

namespace stoker {
namespace {

class LrFinder {
 public:
  LrFinder(const Recipe& recipe, const LrRangeOptions& options)
      : recipe_(recipe), options_(options), test_(options) {
    // Each thread's update follows one batch.
    recipe_.train.options.hogwild = 1;
  }

  Result<LrSearch> Run(const std::function<bool(int64_t, double)>& told) {
    STOKER_RETURN_IF_ERROR(CheckLrRange(options_));
    STOKER_ASSIGN_OR_RETURN(const OpenedDevice opened, OpenDeviceFor(recipe_.train.options));
    STOKER_ASSIGN_OR_RETURN(plan_, MakePlanOfSteps(recipe_, options_.steps));
    const TorchFloatModes modes;  // of before the tuner's choice
    STOKER_ASSIGN_OR_RETURN(const Tuned tuned, Tune(recipe_, *plan_, opened.device));
    const PipelineCpuScope cpus(FeedCpus(recipe_.train.options, opened.device));
    STOKER_RETURN_IF_ERROR(Open({.device = opened.device,
                                 .memory_format = tuned.choices.memory_format,
                                 .precision = tuned.choices.precision}));
    const Stopwatch watch;
    STOKER_RETURN_IF_ERROR(RunSteps(told));
    STOKER_ASSIGN_OR_RETURN(const double scale,
                            LrScaleOf(recipe_.train.lr_scaling, plan_->batch_size));
    return LrSearch{.curve = test_.curve(),
                    .suggestions = SuggestLr(test_.curve()),
                    .diverged = test_.diverged(),
                    .seconds = watch.ElapsedSeconds(),
                    .device = opened.description,
                    .choices = tuned.choices,
                    .lr_scale = scale,
                    .key = LrKeyOf(recipe_.train)};
  }

 private:
  Status Open(const Placement& placement) {
    STOKER_ASSIGN_OR_RETURN(learner_, Learner::Create(recipe_, plan_->input, placement));
    STOKER_ASSIGN_OR_RETURN(const Dataset batches, Repeat{.count = 0}.Build(recipe_.data.train));
    STOKER_ASSIGN_OR_RETURN(feeder_, OpenFeed(recipe_, batches, placement, *plan_));
    return OkStatus();
  }

  Status RunSteps(const std::function<bool(int64_t, double)>& told) {
    for (int64_t step = 0; step < options_.steps; ++step) {
      const double lr = LrOfStep(options_, step);
      STOKER_ASSIGN_OR_RETURN(const double loss, LossOfStep(step, lr));
      if (!test_.Add(lr, loss)) break;
      if (told && !told(step + 1, test_.curve().loss.back())) break;
    }
    if (!test_.curve().lr.empty()) return OkStatus();
    return FailedPrecondition(
        "the loss is not finite at the first step, at the lowest rate ({:.3g}): the rate is not to "
        "blame; look at the data (`stoker inspect`) and at its normalisation",
        options_.low);
  }

  Result<double> LossOfStep(int64_t step, double lr) {
    const int64_t batches = plan_->BatchesOf(step);
    for (int64_t i = 0; i < batches; ++i) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, feeder_->Next());
      if (!batch) return DataLoss("data.train ended after {} steps", step);
      STOKER_RETURN_IF_ERROR(
          learner_->Backward(*batch, batches).While(fmt::format("in step {}", step + 1)));
    }
    STOKER_ASSIGN_OR_RETURN(const at::Tensor loss,
                            learner_->Update({.lr = lr, .momentum = {}}, step + 1));
    double value = 0;
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { value = loss.item<double>(); }));
    return value;
  }

  Recipe recipe_;
  const LrRangeOptions& options_;
  LrRangeTest test_;
  std::optional<TrainingPlan> plan_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Feeder> feeder_;
};

}  // namespace

Result<LrSearch> FindLr(const Recipe& recipe, const LrRangeOptions& options,
                        const std::function<bool(int64_t step, double loss)>& told) {
  return LrFinder(recipe, options).Run(told);
}

std::string LrKeyOf(const TrainRecipe& train) {
  const ConfigNode& options = train.schedule.node.entries.front().value;
  const char* const key = options.Find("max_lr") != nullptr ? "max_lr" : "lr";
  return fmt::format("train.schedule.{}.{}", train.schedule.name, key);
}

}  // namespace stoker
