// What the doctor does with a model.
#include <algorithm>
#include <memory>
#include <optional>

#include "stoker/base/worker_group.h"
#include "stoker/run/recipe.h"
#include "stoker/tools/doctor/doctor.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/training_probe.h"
#include "stoker/train/tune/step_cost.h"

namespace stoker {
namespace {

constexpr int64_t kBatchesOfAnEvaluation = 16;
constexpr double kSecondsOfAnEvaluation = 5;

Result<Recipe> Parse(const DoctorRecipe& recipe) { return ParseRecipe(recipe.root, recipe.folder); }

class TrainedParts {
 public:
  Status Train(const DoctorRecipe& read, double seconds, StopTimer& timer, TrainObserver* observer,
               RunProfile& out) {
    STOKER_ASSIGN_OR_RETURN(const Recipe recipe, Parse(read));
    TrainingMeasurement measured;
    const Status status = MeasureTraining(recipe, seconds, timer, observer, measured);
    out.training = measured.profile;
    out.machine.accelerator = measured.start.choices.device != "cpu";
    choices_ = measured.start.choices;
    if (!status.ok() || Interrupted() || !out.training) return status;
    if (recipe.data.eval && out.training->evaluation_s == 0) MeasureEvaluation(read, timer, out);
    return OkStatus();
  }

  Result<StepProfile> Step(const DoctorRecipe& read, double seconds, StopTimer& timer) const {
    STOKER_ASSIGN_OR_RETURN(const Recipe recipe, Parse(read));
    Choices choices = choices_;
    choices.threads = static_cast<int>(
        recipe.train.options.threads.value_or(std::min(choices.threads, AvailableCpus())));
    STOKER_ASSIGN_OR_RETURN(const StepCost cost,
                            MeasureStep(recipe, choices, seconds, timer.flag()));
    const auto batches = static_cast<double>(recipe.train.options.accumulate);
    return StepProfile{.batch = cost.batch * recipe.train.options.accumulate,
                       .seconds = cost.backward_s * batches + cost.optimizer_s,
                       .backward_s = cost.backward_s * batches,
                       .optimizer_s = cost.optimizer_s,
                       .copy_s = cost.copy_s * batches,
                       .threads = cost.threads};
  }

 private:
  // The run was too short for an evaluation: one of a few batches, after one step, stands for it.
  static void MeasureEvaluation(DoctorRecipe read, StopTimer& timer, RunProfile& out) {
    const Result<Recipe> whole = Parse(read);
    if (!whole.ok() || !whole->data.eval->cardinality().known()) return;
    const LimitBatchesOptions& limit = whole->train.limit_batches;
    const int64_t all = std::min(whole->data.eval->cardinality().value(),
                                 limit.eval.value_or(std::numeric_limits<int64_t>::max()));
    const int64_t some = std::min(all, kBatchesOfAnEvaluation);
    if (some < 1 || !SetByPath(read.root, "train.max_steps=2").ok() ||
        !SetByPath(read.root, "train.eval_every_steps=1").ok() ||
        !SetByPath(read.root, fmt::format("train.limit_batches.eval={}", some)).ok() ||
        !SetByPath(read.root, "train.tune=\"off\"").ok()) {
      return;
    }
    const Result<Recipe> recipe = Parse(read);
    if (!recipe.ok()) return;
    TrainingMeasurement measured;
    const Status status =
        MeasureTraining(*recipe, kSecondsOfAnEvaluation, timer, nullptr, measured);
    if (!status.ok() || !measured.profile) return;
    out.training->evaluation_s =
        measured.profile->evaluation_s * static_cast<double>(all) / static_cast<double>(some);
  }

  Choices choices_;
};

}  // namespace

Status RunTrainedDoctor(const DoctorArguments& arguments) {
  const auto trained = std::make_shared<TrainedParts>();
  return RunDoctor(
      arguments,
      {.check = [](const DoctorRecipe& recipe) { return Parse(recipe).status(); },
       .train =
           [trained](const DoctorRecipe& recipe, double seconds, StopTimer& timer,
                     TrainObserver* observer, RunProfile& out) {
             return trained->Train(recipe, seconds, timer, observer, out);
           },
       .step = [trained](const DoctorRecipe& recipe, double seconds,
                         StopTimer& timer) { return trained->Step(recipe, seconds, timer); }});
}

}  // namespace stoker
