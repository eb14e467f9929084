#include <filesystem>

#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_resume_test {

namespace fs = std::filesystem;

TEST_F(TrainerTest, StoppedAfterAnyStepAndResumedItEndsWithTheSameBytes) {
  STOKER_ASSERT_OK(Train("whole"));
  for (int64_t step = 1; step <= 18; ++step) {
    SCOPED_TRACE(step);
    const std::string run = "stopped" + std::to_string(step);
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary stopped, TrainUntil(run, step));
    EXPECT_TRUE(stopped.interrupted);
    EXPECT_EQ(stopped.step, step);
    EXPECT_FALSE(fs::exists(Paths(run).weights()));
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary resumed, Resume(run));
    EXPECT_FALSE(resumed.interrupted);
    ASSERT_EQ(WeightsOf(run), WeightsOf("whole"));
    ASSERT_EQ(MetricsOf(run), MetricsOf("whole"));
  }
}

// Each with a state of its own in the checkpoint, or in what a step is made of.
TEST_F(TrainerTest, WithEveryTrickStoppedAfterAnyStepItResumesToTheSameBytes) {
  const std::vector<std::vector<std::string>> tricks = {
      {"train.accumulate=4", "train.average=ema", "train.optimizer=lamb", "train.clip.norm=1"},
      {"train.accumulate=2", "train.average={kind: swa, start: 0.3}", "train.optimizer=muon"},
      {"train.optimizer=lars", "train.decay_vectors=false", "train.clip.adaptive=0.1"},
      {"train.optimizer=lion", "train.layer_rate=0.5", "train.average={kind: ema, every: 4}"},
      {"train.optimizer={rmsprop: {momentum: 0.5}}", "train.clip.value=0.1"},
      {"train.optimizer=adagrad", "train.groups=[{match: '*.bias', lr: 2}]"},
      {"train.optimizer=adam", "train.average={kind: swa, start: 0.9}"},
      {"train.overfit_batches=3", "train.eval_every_steps=2", "train.checkpoint.best=loss",
       "train.early_stopping={patience: 3, min_delta: 0.2}"},
      {"train.limit_batches={train: 4, eval: 2}", "train.on_nonfinite=rollback",
       "train.checkpoint={every_steps: 3, keep: 1}", "train.callbacks=[{stop_at: {step: 10}}]"},
      {"train.metrics=[f1]", "train.early_stopping={metric: f1, patience: 2}",
       "train.on_nonfinite=skip", "train.loss={focal: {gamma: 1}}"}};
  for (size_t i = 0; i < tricks.size(); ++i) {
    SCOPED_TRACE(tricks[i].front());
    const std::string name = std::to_string(i);
    Watcher watcher;
    STOKER_ASSERT_OK(Train("whole" + name, tricks[i], &watcher));
    for (int64_t step = 1; step <= watcher.start.total_steps; step += 3) {
      SCOPED_TRACE(step);
      const std::string run = "stopped" + name + "-" + std::to_string(step);
      STOKER_ASSERT_OK(TrainUntil(run, step, tricks[i]));
      STOKER_ASSERT_OK(Resume(run, tricks[i]));
      ASSERT_EQ(WeightsOf(run), WeightsOf("whole" + name));
      ASSERT_EQ(MetricsOf(run), MetricsOf("whole" + name));
    }
  }
}

// The rate depends on evaluations, so their history must come back.
TEST_F(TrainerTest, StoppedAfterAnyStepAPlateauResumesToTheSameBytes) {
  const std::vector<std::string> set = {
      "train.schedule={plateau: {lr: 0.02, factor: 0.5, patience: 0, threshold: 0.5}}",
      "train.warmup.epochs=0.5", "train.lr_scaling={rule: sqrt, base_batch: 8}"};
  STOKER_ASSERT_OK(Train("whole", set));
  for (const int64_t step : {5, 6, 7, 11, 12, 13, 17}) {
    SCOPED_TRACE(step);
    const std::string run = "stopped" + std::to_string(step);
    STOKER_ASSERT_OK(TrainUntil(run, step, set));
    STOKER_ASSERT_OK(Resume(run, set));
    ASSERT_EQ(WeightsOf(run), WeightsOf("whole"));
    ASSERT_EQ(MetricsOf(run), MetricsOf("whole"));
  }
}

// Batch norm's running means, convolutions on several threads and in channels-last are among what
// must come back.
TEST_F(TrainerTest, AConvnetInChannelsLastOnTwoThreadsResumesToTheSameBytes) {
  const std::vector<std::string> set = {"model={convnet: {classes: 4, channels: [16, 8]}}",
                                        "train.memory_format=channels_last", "train.threads=2"};
  STOKER_ASSERT_OK(Train("whole", set));
  STOKER_ASSERT_OK(TrainUntil("stopped", 8, set));
  STOKER_ASSERT_OK(Resume("stopped", set));
  EXPECT_EQ(WeightsOf("stopped"), WeightsOf("whole"));
  EXPECT_EQ(MetricsOf("stopped"), MetricsOf("whole"));
}

// As a run killed at step 9 leaves it: metrics up to there, the newest checkpoint from before.
TEST_F(TrainerTest, KilledBehindItsCheckpointItRepeatsStepsButNoLineAndEndsWithTheSameBytes) {
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(TrainUntil("killed", 9));
  fs::remove_all(CheckpointOf("killed", 9));
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("killed", {}, &watcher));
  EXPECT_EQ(watcher.start.first_step, 6);
  EXPECT_EQ(WeightsOf("killed"), WeightsOf("whole"));
  EXPECT_EQ(MetricsOf("killed"), MetricsOf("whole"));
}

TEST_F(TrainerTest, KilledBeforeItsFirstCheckpointItBeginsAgain) {
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(TrainUntil("killed", 3));
  fs::remove_all(Paths("killed").checkpoints());
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("killed", {}, &watcher));
  EXPECT_THAT(watcher.start.warnings, testing::ElementsAre(testing::HasSubstr("no checkpoint")));
  EXPECT_EQ(WeightsOf("killed"), WeightsOf("whole"));
  EXPECT_EQ(MetricsOf("killed"), MetricsOf("whole"));
}

TEST_F(TrainerTest, ADamagedCheckpointIsPassedOverWithAWarningAndTheWeightsAreTheSame) {
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(TrainUntil("damaged", 9));
  const std::string tensors = CheckpointOf("damaged", 9) + "/tensors.safetensors";
  fs::resize_file(tensors, fs::file_size(tensors) - 1);
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("damaged", {}, &watcher));
  EXPECT_EQ(watcher.start.first_step, 6);
  EXPECT_THAT(watcher.start.warnings,
              testing::ElementsAre(testing::HasSubstr("tensors.safetensors: is damaged")));
  EXPECT_EQ(WeightsOf("damaged"), WeightsOf("whole"));
}

TEST_F(TrainerTest, ResumingAFinishedRunChangesNothing) {
  STOKER_ASSERT_OK(Train("run"));
  const std::string weights = WeightsOf("run");
  const auto metrics = MetricsOf("run");
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Resume("run", {}, &watcher));
  EXPECT_EQ(watcher.steps, 0);
  EXPECT_EQ(summary.step, 18);
  EXPECT_EQ(WeightsOf("run"), weights);
  EXPECT_EQ(MetricsOf("run"), metrics);
}

TEST_F(TrainerTest, KeysThatChangeNoWeightMayChangeWithoutPermission) {
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(TrainUntil("run", 7));
  const std::string choices = ReadFileForTest(Paths("run").choices());
  Watcher watcher;
  STOKER_ASSERT_OK(Resume(
      "run", {"train.log_every=3", "train.checkpoint.keep=5", "train.feed_threads=2"}, &watcher));
  EXPECT_THAT(watcher.start.warnings,
              testing::ElementsAre(testing::HasSubstr("log_every: 2 -> 3")));
  EXPECT_EQ(ReadFileForTest(Paths("run").choices()), choices);
  EXPECT_EQ(WeightsOf("run"), WeightsOf("whole"));
}

TEST_F(TrainerTest, AFinishedRunThatGoesOnHasNoResultsUntilItsNewEnd) {
  STOKER_ASSERT_OK(Train("run"));
  Watcher watcher;
  watcher.stop_after = 20;
  STOKER_ASSERT_OK(Resume("run", {"train.epochs=4"}, &watcher, {.allow_changes = true}));
  EXPECT_FALSE(fs::exists(Paths("run").weights()));
  EXPECT_FALSE(fs::exists(Paths("run").summary()));
  STOKER_ASSERT_OK(Resume("run", {"train.epochs=4"}));
  EXPECT_TRUE(fs::exists(Paths("run").weights()));
}

TEST_F(TrainerTest, TheSummaryOfAResumedRunCountsTheTimeOfAllItsSteps) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary stopped, TrainUntil("run", 9));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary whole, Resume("run"));
  EXPECT_GT(whole.train_seconds, stopped.train_seconds);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary again, Resume("run"));
  EXPECT_EQ(again.train_seconds, whole.train_seconds);
  EXPECT_EQ(again.images_per_s, whole.images_per_s);
}

// The request comes with the last step of an epoch, so it is seen by the evaluation.
TEST_F(TrainerTest, StoppedAtAnEvaluationItEvaluatesWhenResumed) {
  Watcher watcher;
  watcher.stop_after = 6;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary stopped, Train("run", {}, &watcher));
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(watcher.evaluations.size(), 0u);
  Watcher second;
  second.stop_after = 7;
  STOKER_ASSERT_OK(Resume("run", {}, &second));
  ASSERT_EQ(second.evaluations.size(), 1u);
  EXPECT_EQ(second.evaluations[0].step, 6);
}

}  // namespace stoker::trainer_resume_test
