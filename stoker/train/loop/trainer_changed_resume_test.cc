// Runs that go on with another recipe, and runs that a callback ended before their last step.
#include <cmath>
#include <filesystem>
#include <set>

#include "stoker/train/core/callback.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_changed_resume_test {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

const std::vector<std::string> kLargerBatch = {"data.train.batch.size=32",
                                               "train.schedule={one_cycle: {max_lr: 0.01}}"};
const ResumeOptions kAllowed = {.allow_changes = true};

// Puts NaNs into the batches of one step.
class PoisonStep : public Callback {
 public:
  explicit PoisonStep(int64_t step) : step_(step) {}
  Status OnBatch(RunView& run, const TensorBatch& batch) override {
    if (run.step + 1 == step_) batch.input.only()[0].fill_(NAN);
    return OkStatus();
  }

 private:
  const int64_t step_;
};

class ChangedResumeTest : public TrainerTest {
 protected:
  // The run as a kill leaves it that comes before the checkpoint of `step`.
  void ResumeAndKill(const std::string& run, int64_t step, const std::vector<std::string>& set) {
    Watcher watcher;
    watcher.stop_after = step;
    STOKER_ASSERT_OK(Resume(run, set, &watcher, kAllowed));
    fs::remove_all(CheckpointOf(run, step));
  }
  Result<TrainSummary> TrainPoisoned(const std::string& run, int64_t poisoned,
                                     const std::vector<std::string>& set, bool resume) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            resume ? Trainer::Resume(std::move(recipe), problem_ / run, kAllowed)
                                   : Trainer::Create(std::move(recipe), problem_ / run));
    trainer->Add("poison", std::make_unique<PoisonStep>(poisoned));
    return trainer->Run();
  }
};

TEST_F(ChangedResumeTest, ARunThatIsKilledAfterAChangedResumeGoesOnWithoutAnotherPermission) {
  STOKER_ASSERT_OK(TrainUntil("whole", 7));
  STOKER_ASSERT_OK(Resume("whole", kLargerBatch, nullptr, kAllowed));
  STOKER_ASSERT_OK(TrainUntil("killed", 7));
  ResumeAndKill("killed", 8, kLargerBatch);
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("killed", kLargerBatch, &watcher));
  EXPECT_EQ(watcher.start.first_step, 7);
  EXPECT_EQ(WeightsOf("killed"), WeightsOf("whole"));
  EXPECT_EQ(MetricsOf("killed"), MetricsOf("whole"));
}

TEST_F(ChangedResumeTest, WhatEndedARunBeforeAnAllowedChangeEndsItNotAgainAfterAKill) {
  const std::vector<std::string> stop = {"train.callbacks=[{stop_at: {step: 8}}]"};
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(Train("run", stop));
  ResumeAndKill("run", 10, {});
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Resume("run"));
  EXPECT_EQ(summary.step, 18);
  EXPECT_EQ(WeightsOf("run"), WeightsOf("whole"));
}

// It was given for the recipe.
TEST_F(ChangedResumeTest, ThePermissionForAChangeOfTheRecipeCoversNoLostLinesOfMetrics) {
  STOKER_ASSERT_OK(TrainUntil("run", 7));
  ResumeAndKill("run", 8, kLargerBatch);
  fs::resize_file(Paths("run").metrics(), 10);
  EXPECT_THAT(Resume("run", kLargerBatch),
              FailsWith(StatusCode::kFailedPrecondition, "go on without these lines"));
  STOKER_EXPECT_OK(Resume("run", kLargerBatch, nullptr, kAllowed));
}

// A permission does not outlive the checkpoint that it was given for.
TEST_F(ChangedResumeTest, OnceACheckpointOfTheChangedRunIsStoredAnotherLengthIsRefusedAgain) {
  STOKER_ASSERT_OK(TrainUntil("run", 5));
  Watcher watcher;
  watcher.stop_after = 7;
  STOKER_ASSERT_OK(Resume("run", kLargerBatch, &watcher, kAllowed));
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-images", QuadrantImages(64)));
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", QuadrantLabels(64)));
  fs::remove(Paths("run").data());
  EXPECT_THAT(Resume("run", kLargerBatch),
              FailsWith(StatusCode::kFailedPrecondition,
                        "an epoch had 3 steps when this checkpoint was stored and has 2 now, so "
                        "the data or the recipe was changed since"));
}

// A damaged checkpoint of the changed run leads back to one from before the change.
TEST_F(ChangedResumeTest, APermissionStaysUntilNoCheckpointFromBeforeTheChangeIsLeft) {
  const std::vector<std::string> every = {"train.checkpoint.every_steps=1",
                                          "train.checkpoint.keep=2"};
  std::vector<std::string> changed = kLargerBatch;
  changed.insert(changed.end(), every.begin(), every.end());
  STOKER_ASSERT_OK(TrainUntil("run", 5, every));
  Watcher one_step;
  one_step.stop_after = 6;
  STOKER_ASSERT_OK(Resume("run", changed, &one_step, kAllowed));
  EXPECT_TRUE(fs::exists(Paths("run").allowed_changes()));
  fs::remove(CheckpointOf("run", 6) + "/state.json");
  Watcher next;
  next.stop_after = 7;
  STOKER_ASSERT_OK(Resume("run", changed, &next));
  EXPECT_EQ(next.start.first_step, 5);
  EXPECT_FALSE(fs::exists(Paths("run").allowed_changes()));
  EXPECT_FALSE(fs::exists(CheckpointOf("run", 5)));
  STOKER_EXPECT_OK(Resume("run", changed));
}

// What cannot be written ends the run where a kill may.
TEST_F(ChangedResumeTest, ARunThatEndsBetweenTheChangedRecipeAndItsChoicesChoosesAgain) {
  STOKER_ASSERT_OK(TrainUntil("run", 5, {"train.memory_format=contiguous"}));
  fs::remove(Paths("run").tuning());
  fs::create_directories(Paths("run").tuning() + "/in the way");
  const std::vector<std::string> changed = {"train.memory_format=auto"};
  EXPECT_THAT(Resume("run", changed, nullptr, kAllowed),
              FailsWith(StatusCode::kFailedPrecondition, "tuning.json"));
  EXPECT_THAT(ReadFileForTest(Paths("run").recipe()), HasSubstr("memory_format: auto"));
  fs::remove_all(Paths("run").tuning());
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", changed, &watcher));
  EXPECT_FALSE(watcher.start.tuning.as_before);
}

TEST_F(ChangedResumeTest, AResumeWithAnotherBatchSaysWhereInTheEpochsTheRunNowStands) {
  STOKER_ASSERT_OK(TrainUntil("run", 5));
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", kLargerBatch, &watcher, kAllowed));
  EXPECT_THAT(watcher.start.warnings,
              Contains(HasSubstr("an epoch has 3 steps now and had 6: the run counts steps, so "
                                 "after step 5 it stood at 0.83 epochs and now stands at 1.67 of "
                                 "3.00")));
}

TEST_F(ChangedResumeTest, ACheckpointThatOnlyStopAtBroughtIsNotWhatARollbackGoesBackTo) {
  const std::vector<std::string> set = {"train.on_nonfinite=rollback",
                                        "train.checkpoint.every_steps=4"};
  for (const int64_t step : {7, 8, 9}) {
    SCOPED_TRACE(step);
    const std::string name = std::to_string(step);
    STOKER_ASSERT_OK(TrainPoisoned("whole" + name, step + 1, set, /*resume=*/false));
    std::vector<std::string> stop = set;
    stop.push_back("train.callbacks=[{stop_at: {step: " + name + "}}]");
    STOKER_ASSERT_OK(TrainPoisoned("run" + name, step + 1, stop, /*resume=*/false));
    STOKER_ASSERT_OK(TrainPoisoned("run" + name, step + 1, set, /*resume=*/true));
    EXPECT_EQ(WeightsOf("run" + name), WeightsOf("whole" + name));
  }
}

TEST_F(ChangedResumeTest, AnEvaluationThatOnlyStopAtBroughtMovesNoPlateauAndStopsNothingEarly) {
  const std::vector<std::string> set = {
      "train.schedule={plateau: {lr: 0.02, factor: 0.5, patience: 0, threshold: 0.9}}",
      "train.early_stopping={metric: loss, patience: 3, min_delta: 5}", "train.eval_every=2"};
  STOKER_ASSERT_OK(Train("whole", set));
  for (const int64_t step : {3, 6, 8, 12, 15}) {
    SCOPED_TRACE(step);
    const std::string run = "run" + std::to_string(step);
    std::vector<std::string> stop = set;
    stop.push_back("train.callbacks=[{stop_at: {step: " + std::to_string(step) + "}}]");
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary stopped, Train(run, stop));
    EXPECT_TRUE(stopped.last_evaluation.has_value());
    STOKER_ASSERT_OK(Resume(run, set, nullptr, kAllowed));
    EXPECT_EQ(WeightsOf(run), WeightsOf("whole"));
  }
}

}  // namespace stoker::trainer_changed_resume_test
