// Runs that go on with another recipe.
#include <filesystem>

#include "stoker/train/loop/trainer_testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

const std::vector<std::string> kLargerBatch = {"data.train.batch.size=32",
                                               "train.schedule={one_cycle: {max_lr: 0.01}}"};
const ResumeOptions kAllowed = {.allow_changes = true};

class ChangedResumeTest : public TrainerTest {
 protected:
  // The run as a kill leaves it that comes before the checkpoint of `step`.
  void ResumeAndKill(const std::string& run, int64_t step, const std::vector<std::string>& set) {
    Watcher watcher;
    watcher.stop_after = step;
    STOKER_ASSERT_OK(Resume(run, set, &watcher, kAllowed));
    fs::remove_all(CheckpointOf(run, step));
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

TEST_F(ChangedResumeTest, AResumeWithAnotherBatchSaysWhereInTheEpochsTheRunNowStands) {
  STOKER_ASSERT_OK(TrainUntil("run", 5));
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", kLargerBatch, &watcher, kAllowed));
  EXPECT_THAT(watcher.start.warnings,
              Contains(HasSubstr("an epoch has 3 steps now and had 6: the run counts steps, so "
                                 "after step 5 it stood at 0.83 epochs and now stands at 1.67 of "
                                 "3.00")));
}

}  // namespace
}  // namespace stoker
