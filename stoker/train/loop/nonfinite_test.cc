// What a run does about losses and gradients that are not finite.
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stoker/data/nodes/map.h"
#include "stoker/train/loop/nonfinite_testing.h"

namespace stoker::nonfinite_test {

TEST_F(NonfiniteTest, StopNamesStepAndSample) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  EXPECT_THAT(
      TrainPoisoned("run", {8}, {}),
      FailsWith(StatusCode::kFailedPrecondition,
                "epoch 2 of 3, step 8: the loss is nan; the input holds values that are not "
                "finite in sample "));
}

// Sample i has the label i % 4.
TEST_F(NonfiniteTest, SamplesAreNamedByTheirNumbersInTheSource) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  for (const bool again : {false, true}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        Recipe recipe, problem_.Load(again ? std::vector<std::string>{"train.overfit_batches=2"}
                                           : std::vector<std::string>{}));
    const std::string run = again ? "again" : "once";
    STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                                Trainer::Create(std::move(recipe), problem_ / run));
    struct Label : Callback {
      Status OnBatch(RunView& view, const TensorBatch& batch) override {
        if (view.step == 4) label = batch.target.only()[3].item<int64_t>();
        return OkStatus();
      }
      int64_t label = -1;
    };
    const auto seen = std::make_shared<Label>();
    trainer->Add("label", seen);
    trainer->Add("poison", std::make_unique<Poison>(std::set<int64_t>{5}));
    const std::string message = trainer->Run().status().message();
    const std::string_view marker = "not finite in sample ";
    const size_t at = message.find(marker);
    ASSERT_NE(at, std::string::npos) << message;
    const int64_t index = std::stoll(message.substr(at + marker.size()));
    EXPECT_GE(index, 0);
    EXPECT_LT(index, 96);
    EXPECT_EQ(index % 4, seen->label) << message;
  }
}

TEST_F(NonfiniteTest, StopNamesTheLayerWhereTheInputIsSound) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  const Result<TrainSummary> result = Train("run", {"train.schedule={constant: {lr: 1.0e+30}}"});
  EXPECT_THAT(result, FailsWith(StatusCode::kFailedPrecondition, "step 2: the loss is"));
  EXPECT_THAT(result.status().message(), testing::ContainsRegex("layer '[0-9]' \\(aten::"));
  EXPECT_THAT(result.status().message(), testing::HasSubstr("of data.train (numbered from 0)"));
}

TEST_F(NonfiniteTest, SkipLeavesWeightsAsTheyWereAndCounts) {
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      TrainPoisoned("run", {1, 8, 9}, {"train.on_nonfinite=skip"}, false, &watcher));
  EXPECT_EQ(summary.step, 18);
  EXPECT_EQ(summary.skipped, 3);
  EXPECT_EQ(watcher.steps, 18);
  EXPECT_TRUE(std::isfinite(summary.last_evaluation->loss));
  EXPECT_THAT(ReadFileForTest(Paths("run").log()),
              testing::HasSubstr("step 8: the loss is nan; the input holds"));
  EXPECT_EQ(Json::parse(MetricsOf("run").back())["kind"], "eval");
}

TEST_F(NonfiniteTest, SkipSeesGradientsToo) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      TrainPoisoned<PoisonGradient>("run", {4}, {"train.on_nonfinite=skip"}));
  EXPECT_EQ(summary.skipped, 1);
  EXPECT_THAT(ReadFileForTest(Paths("run").log()),
              testing::HasSubstr("step 4: the gradient of '1.weight' is not finite"));
}

// Running means of batch norm have seen the NaNs by the time the loss is known.
TEST_F(NonfiniteTest, SkipTakesBackWhatTheForwardPassDidToBuffers) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      TrainPoisoned("run", {2},
                    {"train.on_nonfinite=skip", "model={convnet: {classes: 4, channels: [8]}}"}));
  EXPECT_TRUE(std::isfinite(summary.last_evaluation->loss));
}

TEST_F(NonfiniteTest, GradientsAreLookedAtWithoutChangingABit) {
  STOKER_ASSERT_OK(Train("plain"));
  STOKER_ASSERT_OK(Train("checked", {"train.on_nonfinite=skip"}));
  STOKER_ASSERT_OK(Train("traced", {"train.detect_anomaly=true"}));
  EXPECT_EQ(WeightsOf("checked"), WeightsOf("plain"));
  EXPECT_EQ(WeightsOf("traced"), WeightsOf("plain"));
}

TEST_F(NonfiniteTest, TooManySkippedInARowStopTheRun) {
  EXPECT_THAT(
      TrainPoisoned("run", {3, 4, 5}, {"train.on_nonfinite=skip", "train.nonfinite_limit=2"}),
      FailsWith(StatusCode::kFailedPrecondition, "2 steps in a row were skipped before"));
  STOKER_EXPECT_OK(
      TrainPoisoned("apart", {3, 4, 6, 7}, {"train.on_nonfinite=skip", "train.nonfinite_limit=2"}));
}

TEST_F(NonfiniteTest, SkippedStepsResumeToTheSameBytes) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  const std::vector<std::string> set = {"train.on_nonfinite=skip", "train.accumulate=2",
                                        "train.average=ema"};
  const std::set<int64_t> broken = {2, 5, 6};
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary whole, TrainPoisoned("whole", broken, set));
  EXPECT_EQ(whole.skipped, 3);
  for (int64_t step = 1; step < 9; ++step) {
    const std::string run = "stopped" + std::to_string(step);
    Watcher watcher;
    watcher.stop_after = step;
    STOKER_ASSERT_OK(TrainPoisoned(run, broken, set, false, &watcher));
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary resumed, TrainPoisoned(run, broken, set, true));
    EXPECT_EQ(resumed.skipped, 3);
    EXPECT_EQ(WeightsOf(run), WeightsOf("whole"));
    EXPECT_EQ(MetricsOf(run), MetricsOf("whole"));
  }
}

TEST_F(NonfiniteTest, RollbackGoesToTheLastCheckpointAndOnWithTheDataBehind) {
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      TrainPoisoned("run", {2, 9},
                    {"train.on_nonfinite=rollback", "train.checkpoint.every_steps=4"}, false,
                    &watcher));
  EXPECT_EQ(summary.step, 18);
  EXPECT_EQ(summary.rollbacks, 2);
  EXPECT_EQ(watcher.steps, 18);
  EXPECT_THAT(ReadFileForTest(Paths("run").log()),
              testing::HasSubstr("back to the weights of step 0"));
  EXPECT_THAT(ReadFileForTest(Paths("run").log()),
              testing::HasSubstr("back to the weights of step 8"));
}

// Where the last step is the broken one, the weights are those of the checkpoint before it.
TEST_F(NonfiniteTest, RollbackGivesTheWeightsOfTheCheckpoint) {
  STOKER_ASSERT_OK(Train("short", {"train.schedule={constant: {}}", "train.max_steps=4"}));
  STOKER_ASSERT_OK(
      TrainPoisoned("rolled", {6},
                    {"train.schedule={constant: {}}", "train.max_steps=6",
                     "train.on_nonfinite=rollback", "train.checkpoint.every_steps=4"}));
  EXPECT_EQ(WeightsOf("rolled"), WeightsOf("short"));
}

TEST_F(NonfiniteTest, TooManyRollbacksStopTheRun) {
  EXPECT_THAT(
      TrainPoisoned("run", {3, 8, 12}, {"train.on_nonfinite=rollback", "train.nonfinite_limit=2"}),
      FailsWith(StatusCode::kFailedPrecondition, "has rolled back 2 times before"));
}

// Where the checkpoint that it would go back to was not kept, as by a run that was told to skip.
TEST_F(NonfiniteTest, ARollbackWhoseCheckpointIsGoneGoesBackToTheOneThatTheRunWentOnFrom) {
  Watcher watcher;
  watcher.stop_after = 5;
  const std::vector<std::string> set = {"train.checkpoint={every_steps: 4, keep: 1}"};
  STOKER_ASSERT_OK(Train("run", set, &watcher));  // the newest is that of step 5, which no plan has
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe,
                              problem_.Load({set[0], "train.on_nonfinite=rollback"}));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto trainer,
      Trainer::Resume(std::move(recipe), problem_ / "run", {.allow_changes = true}));
  trainer->Add("poison", std::make_unique<Poison>(std::set<int64_t>{7}));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, trainer->Run());
  EXPECT_EQ(summary.rollbacks, 1);
  EXPECT_THAT(ReadFileForTest(Paths("run").log()),
              testing::HasSubstr("back to the weights of step 5"));
}

// Batch norm and dropout have seen the NaNs by the time the loss is known.
TEST_F(NonfiniteTest, ARunThatStopsHasStoredItsLastWholeStepAndEndsWithTheSameBytes) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  for (const char* model : {"{mlp: {classes: 4, hidden: [16], dropout: 0.25}}",
                            "{convnet: {classes: 4, channels: [8, 8]}}"}) {
    for (const char* more : {"train.accumulate=1", "train.accumulate=2", "train.average=ema"}) {
      SCOPED_TRACE(std::string(model) + " " + more);
      const std::vector<std::string> set = {std::string("model=") + model, more,
                                            "train.checkpoint.keep=1"};
      const std::string name = std::to_string(++runs_);
      STOKER_ASSERT_OK(Train("whole" + name, set));
      const std::string run = "broken" + name;
      EXPECT_THAT(TrainPoisoned(run, {5}, set),
                  FailsWith(StatusCode::kFailedPrecondition,
                            "step 5: the loss is nan; the input holds values that are not finite"));
      STOKER_EXPECT_OK(CheckpointStore(Paths(run).checkpoints(), 1).Load(4).status());
      STOKER_ASSERT_OK(Resume(run, set));
      EXPECT_EQ(WeightsOf(run), WeightsOf("whole" + name));
      EXPECT_EQ(MetricsOf(run), MetricsOf("whole" + name));
    }
  }
}

TEST_F(NonfiniteTest, ARunAtItsLimitHasStoredTheStepBefore) {
  for (const char* action : {"skip", "rollback"}) {
    SCOPED_TRACE(action);
    const std::vector<std::string> set = {std::string("train.on_nonfinite=") + action,
                                          "train.nonfinite_limit=1"};
    EXPECT_FALSE(TrainPoisoned(action, {9, 10}, set).ok());
    STOKER_EXPECT_OK(CheckpointStore(Paths(action).checkpoints(), 1).Load(9).status());
  }
}

// The loss of an evaluation tells nothing about the steps before it.
TEST_F(NonfiniteTest, AnEvaluationThatIsNotFiniteLosesNoStep) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load({"train.eval_every_steps=4"}));
  recipe.data.eval = *(Result<Dataset>(*recipe.data.eval) |
                       Map{.function = [](Element& element, Rng&, Scratch&) -> Status {
                         element.arrays[0].values<float>()[0] = NAN;
                         return OkStatus();
                       }});
  STOKER_ASSERT_OK_AND_ASSIGN(auto trainer, Trainer::Create(std::move(recipe), problem_ / "run"));
  EXPECT_THAT(trainer->Run(),
              FailsWith(StatusCode::kFailedPrecondition, "step 4: the loss on data.eval is nan"));
  trainer.reset();  // it holds the run's lock
  STOKER_EXPECT_OK(CheckpointStore(Paths("run").checkpoints(), 1).Load(4).status());
  STOKER_ASSERT_OK(Resume("run"));
  EXPECT_EQ(WeightsOf("run"), WeightsOf("whole"));
}

// Also where the interruption left a checkpoint of its own, which it must not go back to.
TEST_F(NonfiniteTest, RollbacksResumeToTheSameBytes) {
  const std::vector<std::string> set = {"train.on_nonfinite=rollback",
                                        "train.checkpoint={every_steps: 4, keep: 1}"};
  const std::set<int64_t> broken = {7, 11};
  STOKER_ASSERT_OK(TrainPoisoned("whole", broken, set));
  for (int64_t step = 1; step < 18; ++step) {
    SCOPED_TRACE(step);
    const std::string run = "stopped" + std::to_string(step);
    Watcher watcher;
    watcher.stop_after = step;
    STOKER_ASSERT_OK(TrainPoisoned(run, broken, set, false, &watcher));
    STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary resumed, TrainPoisoned(run, broken, set, true));
    EXPECT_EQ(resumed.rollbacks, 2);
    EXPECT_EQ(WeightsOf(run), WeightsOf("whole"));
    EXPECT_EQ(MetricsOf(run), MetricsOf("whole"));
  }
}

// The loss of the next step is the first that shows it.
TEST_F(NonfiniteTest, StopNamesWeightsThatTheStepBeforeBroke) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "losses are read late on an accelerator";
  EXPECT_THAT(TrainPoisoned<PoisonWeight>("run", {4}, {}),
              FailsWith(StatusCode::kFailedPrecondition,
                        "step 5: the loss is nan; the weights '1.weight' are not finite since a "
                        "step before"));
}

TEST_F(NonfiniteTest, AStepThatBreaksTheWeightsCannotBeSkipped) {
  EXPECT_THAT(TrainPoisoned<PoisonWeight>("run", {4}, {"train.on_nonfinite=skip"}),
              FailsWith(StatusCode::kFailedPrecondition,
                        "step 4: it has moved the weights '1.weight' to values that are not "
                        "finite, which cannot be skipped any more (on_nonfinite: rollback"));
}

TEST_F(NonfiniteTest, AStepThatBreaksTheWeightsIsRolledBack) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      TrainPoisoned<PoisonWeight>(
          "run", {6, 9}, {"train.on_nonfinite=rollback", "train.checkpoint.every_steps=4"}));
  EXPECT_EQ(summary.rollbacks, 2);
  EXPECT_TRUE(std::isfinite(summary.last_evaluation->loss));
  EXPECT_THAT(ReadFileForTest(Paths("run").log()),
              testing::HasSubstr("step 6: it has moved the weights '1.weight' to values that are "
                                 "not finite; back to the weights of step 4"));
}

TEST_F(NonfiniteTest, DetectAnomalyNamesTheLayerOfAGradient) {
  EXPECT_THAT(TrainPoisoned<PoisonGradient>("run", {4}, {"train.detect_anomaly=true"}),
              FailsWith(StatusCode::kFailedPrecondition,
                        "step 4: the gradient of '1.weight' is not finite"));
}

}  // namespace stoker::nonfinite_test
