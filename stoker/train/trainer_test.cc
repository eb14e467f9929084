#include "stoker/train/trainer.h"

#include <filesystem>
#include <sstream>

#include "stoker/base/testing.h"
#include "stoker/train/checkpoint.h"
#include "stoker/train/testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Counts what it is told, and asks to stop after a step or at an evaluation.
class Watcher : public TrainObserver {
 public:
  void OnStart(const StartEvent& event) override { start = event; }
  void OnStep(const StepEvent& event) override {
    ++steps;
    last_step = event;
    if (event.step == stop_after) stop = true;
  }
  void OnEpoch(const EpochEvent&) override { ++epochs; }
  void OnEvaluate(const EvaluateEvent& event) override { evaluations.push_back(event); }
  void OnCheckpoint(const CheckpointEvent& event) override { checkpoints.push_back(event.step); }

  int64_t stop_after = -1;
  std::atomic<bool> stop{false};

  StartEvent start;
  StepEvent last_step;
  int steps = 0, epochs = 0;
  std::vector<EvaluateEvent> evaluations;
  std::vector<int64_t> checkpoints;
};

class TrainerTest : public testing::Test {
 protected:
  Result<TrainSummary> Train(const std::string& run, const std::vector<std::string>& set = {},
                             Watcher* watcher = nullptr) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer, Trainer::Create(std::move(recipe), problem_ / run));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }
  // A run that is stopped after `step`.
  Result<TrainSummary> TrainUntil(const std::string& run, int64_t step,
                                  const std::vector<std::string>& set = {}) {
    Watcher watcher;
    watcher.stop_after = step;
    return Train(run, set, &watcher);
  }
  Result<TrainSummary> Resume(const std::string& run, const std::vector<std::string>& set = {},
                              Watcher* watcher = nullptr, const ResumeOptions& options = {}) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Resume(std::move(recipe), problem_ / run, options));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }

  RunPaths Paths(const std::string& run) const { return {problem_ / run}; }
  std::string WeightsOf(const std::string& run) const {
    return ReadFileForTest(Paths(run).weights());
  }
  // The lines of metrics.jsonl without what depends on time.
  std::vector<std::string> MetricsOf(const std::string& run) const {
    std::vector<std::string> lines;
    std::istringstream text(ReadFileForTest(Paths(run).metrics()));
    for (std::string line; std::getline(text, line);) {
      Json json = Json::parse(line);
      for (const char* key : {"images_per_s", "waited", "seconds", "train_seconds"})
        json.erase(key);
      lines.push_back(json.dump());
    }
    return lines;
  }
  std::string CheckpointOf(const std::string& run, int64_t step) const {
    return CheckpointStore(Paths(run).checkpoints(), 1).PathOf(step);
  }

  SmallProblem problem_;
};

TEST_F(TrainerTest, LearnsAndKeepsEverythingInTheRunDirectory) {
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary,
                              Train("run", {"train.epochs=10"}, &watcher));
  EXPECT_FALSE(summary.interrupted);
  EXPECT_EQ(summary.step, 60);
  ASSERT_TRUE(summary.last_evaluation.has_value());
  EXPECT_GT(summary.last_evaluation->accuracy, 0.9);
  EXPECT_EQ(summary.last_evaluation->samples, 32);
  EXPECT_GT(summary.images_per_s, 0);
  for (const std::string& path :
       {Paths("run").recipe(), Paths("run").choices(), Paths("run").metrics(), Paths("run").log(),
        Paths("run").weights(), Paths("run").summary(), CheckpointOf("run", 60)}) {
    EXPECT_TRUE(fs::exists(path)) << path;
  }
}

TEST_F(TrainerTest, TellsItsObserverEverything) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", {}, &watcher));
  EXPECT_EQ(watcher.start.total_steps, 18);
  EXPECT_EQ(watcher.start.steps_per_epoch, 6);
  EXPECT_EQ(watcher.start.parameters, 64 * 16 + 16 + 16 * 4 + 4);
  EXPECT_EQ(watcher.steps, 18);
  EXPECT_EQ(watcher.last_step.train_samples, 18 * 16);
  EXPECT_EQ(watcher.epochs, 3);
  ASSERT_EQ(watcher.evaluations.size(), 3u);
  EXPECT_EQ(watcher.evaluations[2].epoch, 3);
  EXPECT_TRUE(watcher.evaluations[0].best);
  EXPECT_THAT(watcher.checkpoints, testing::ElementsAre(6, 12, 18));
}

TEST_F(TrainerTest, WritesMetricsWhenTheyAreDue) {
  STOKER_ASSERT_OK(Train("run", {"train.log_every=4", "train.eval_every=2"}));
  std::vector<std::pair<std::string, int64_t>> lines;
  for (const std::string& line : MetricsOf("run")) {
    const Json json = Json::parse(line);
    lines.emplace_back(json["kind"], json["step"]);
  }
  using testing::Pair;
  EXPECT_THAT(lines, testing::ElementsAre(Pair("train", 4), Pair("train", 8), Pair("train", 12),
                                          Pair("eval", 12), Pair("train", 16), Pair("eval", 18)));
}

TEST_F(TrainerTest, EqualRecipesGiveEqualWeightsAndAnotherSeedDoesNot) {
  STOKER_ASSERT_OK(Train("one"));
  STOKER_ASSERT_OK(Train("two", {"train.feed_threads=3"}));
  STOKER_ASSERT_OK(Train("other", {"train.seed=2"}));
  EXPECT_EQ(WeightsOf("one"), WeightsOf("two"));
  EXPECT_NE(WeightsOf("one"), WeightsOf("other"));
}

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

// Six batches an epoch make two steps, of four batches and of two.
TEST_F(TrainerTest, GradientsAddUpOverBatchesAndTheLastStepOfAnEpochHasWhatIsLeft) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", {"train.accumulate=4"}, &watcher));
  EXPECT_EQ(watcher.start.total_steps, 6);
  EXPECT_EQ(watcher.start.steps_per_epoch, 2);
  EXPECT_EQ(watcher.last_step.samples, 2 * 16);
  EXPECT_EQ(watcher.last_step.train_samples, 18 * 16);
  EXPECT_EQ(watcher.epochs, 3);
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
      {"train.optimizer=adam", "train.average={kind: swa, start: 0.9}"}};
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

TEST_F(TrainerTest, WhatIsEvaluatedAndWrittenIsTheAverage) {
  Watcher plain, averaged;
  STOKER_ASSERT_OK(Train("plain", {}, &plain));
  STOKER_ASSERT_OK(Train("averaged", {"train.average=ema"}, &averaged));
  EXPECT_NE(WeightsOf("plain"), WeightsOf("averaged"));
  EXPECT_NE(plain.evaluations[0].evaluation.loss, averaged.evaluations[0].evaluation.loss);
  // Training itself does not see it.
  EXPECT_EQ(plain.last_step.loss, averaged.last_step.loss);
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

TEST_F(TrainerTest, AScheduleThatFollowsEvaluationsNeedsSome) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load({"train.schedule=plateau"}));
  recipe.data.eval.reset();
  EXPECT_THAT(Trainer::Create(std::move(recipe), problem_ / "run"),
              FailsWith(StatusCode::kInvalidArgument, "no data.eval; give it one"));
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

TEST_F(TrainerTest, CheckpointsAlsoComeEveryFewSteps) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", {"train.checkpoint.every_steps=4"}, &watcher));
  EXPECT_THAT(watcher.checkpoints, testing::ElementsAre(4, 6, 8, 12, 16, 18));
}

TEST_F(TrainerTest, AChangedRecipeIsRefusedWithItsKeysUnlessAllowed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  const std::vector<std::string> changed = {"train.schedule.one_cycle.max_lr=0.5"};
  EXPECT_THAT(Resume("run", changed), FailsWith(StatusCode::kFailedPrecondition,
                                                "train.schedule.one_cycle.max_lr: 0.02 -> 0.5"));
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", changed, &watcher, {.allow_changes = true}));
  EXPECT_THAT(watcher.start.warnings, testing::ElementsAre(testing::HasSubstr("max_lr")));
  EXPECT_EQ(watcher.start.first_step, 6);
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode kept, ReadRunRecipe(problem_ / "run"));
  EXPECT_THAT(ToYaml(kept), testing::HasSubstr("max_lr: 0.5"));
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

TEST_F(TrainerTest, ARecipeThatDoesNotFitTheRunLeavesTheRunAsItWas) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  const std::string recipe = ReadFileForTest(Paths("run").recipe());
  const std::string choices = ReadFileForTest(Paths("run").choices());
  // As a run killed behind its checkpoint: lines that a resumed one would cut.
  WriteFileForTest(Paths("run").metrics(), ReadFileForTest(Paths("run").metrics()) + "{}\n");
  const std::string metrics = ReadFileForTest(Paths("run").metrics());
  EXPECT_FALSE(
      Resume("run", {"model.mlp.hidden=8", "train.threads=2"}, nullptr, {.allow_changes = true})
          .ok());
  EXPECT_EQ(ReadFileForTest(Paths("run").recipe()), recipe);
  EXPECT_EQ(ReadFileForTest(Paths("run").choices()), choices);
  EXPECT_EQ(ReadFileForTest(Paths("run").metrics()), metrics);
  STOKER_EXPECT_OK(Resume("run"));
}

TEST_F(TrainerTest, ARunBegunOnAnotherDeviceIsRefusedUnlessAllowed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  WriteFileForTest(Paths("run").choices(),
                   R"({"memory_format": "contiguous", "threads": 1, "device": "cuda:0"})");
  EXPECT_THAT(Resume("run"), FailsWith(StatusCode::kFailedPrecondition,
                                       "has computed on cuda:0 and would go on on cpu"));
}

TEST_F(TrainerTest, FewerStepsThanWereDoneAreRefused) {
  STOKER_ASSERT_OK(TrainUntil("run", 9));
  EXPECT_THAT(Resume("run", {"train.max_steps=8"}, nullptr, {.allow_changes = true}),
              FailsWith(StatusCode::kFailedPrecondition, "has done 9 steps"));
}

// Its files are the last that training would touch.
TEST_F(TrainerTest, DamagedEvaluationDataIsFoundBeforeTheFirstStep) {
  fs::resize_file(problem_ / "eval-images", fs::file_size(problem_ / "eval-images") - 1);
  Watcher watcher;
  const Result<TrainSummary> result = Train("run", {}, &watcher);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(), testing::HasSubstr("eval-images"));
  EXPECT_EQ(watcher.steps, 0);
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

TEST_F(TrainerTest, AnotherModelIsRefusedEvenWhereChangesAreAllowed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  EXPECT_THAT(Resume("run", {"model.mlp.hidden=8"}, nullptr, {.allow_changes = true}),
              FailsWith(StatusCode::kFailedPrecondition, "does not fit the recipe's model"));
}

TEST_F(TrainerTest, DataThatHasChangedUnderTheRunIsNoticed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-images", QuadrantImages(64)));
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", QuadrantLabels(64)));
  EXPECT_THAT(Resume("run"), FailsWith(StatusCode::kFailedPrecondition,
                                       "an epoch had 6 steps when the run began and has 4 now"));
}

TEST_F(TrainerTest, ABrokenLossStopsTheRunNamesTheStepAndKeepsTheLastGoodCheckpoint) {
  const std::vector<std::string> set = {"train.schedule={constant: {lr: 1.0e+30}}",
                                        "train.checkpoint.every_steps=1"};
  const Result<TrainSummary> result = Train("run", set);
  EXPECT_THAT(result,
              FailsWith(StatusCode::kFailedPrecondition, "epoch 1 of 3, step 2: the loss is"));
  EXPECT_THAT(result.status().message(), testing::HasSubstr(CheckpointOf("run", 1)));
  STOKER_EXPECT_OK(CheckpointStore(Paths("run").checkpoints(), 2).LoadNewest());
  EXPECT_FALSE(fs::exists(CheckpointOf("run", 2)));
  EXPECT_FALSE(fs::exists(Paths("run").weights()));
  EXPECT_THAT(ReadFileForTest(Paths("run").log()), testing::HasSubstr("failed"));
}

// The step itself had a good loss; its update broke the weights.
TEST_F(TrainerTest, WeightsThatAreNotFiniteAreNeverStored) {
  EXPECT_THAT(
      Train("run", {"train.schedule={constant: {lr: 1.0e+38}}", "train.checkpoint.every_steps=1"}),
      FailsWith(StatusCode::kFailedPrecondition, "step 1: the weights '1.weight'"));
  EXPECT_FALSE(fs::exists(CheckpointOf("run", 1)));
}

TEST_F(TrainerTest, ACheckpointThatCannotBeWrittenEndsTheRunAndSaysSo) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Create(std::move(recipe), problem_ / "run"));
  WriteFileForTest(Paths("run").checkpoints(), "in the way");
  const Result<TrainSummary> result = trainer->Run();
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.status().message(),
              testing::HasSubstr("while writing the checkpoint of step 6"));
}

TEST_F(TrainerTest, TwoCannotTrainInOneRun) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, Trainer::Create(recipe, problem_ / "run"));
  EXPECT_THAT(Trainer::Resume(recipe, problem_ / "run"),
              FailsWith(StatusCode::kUnavailable, "another process"));
}

TEST_F(TrainerTest, MaxStepsEndsItEarlyWithEverythingWritten) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run", {"train.max_steps=8"}));
  EXPECT_FALSE(summary.interrupted);
  EXPECT_EQ(summary.step, 8);
  EXPECT_TRUE(summary.last_evaluation.has_value());
  EXPECT_TRUE(fs::exists(Paths("run").weights()));
}

TEST_F(TrainerTest, EndlessDataNeedsANumberOfSteps) {
  const std::vector<std::string> stream = {
      "data.train=[{idx: {images: train-images, labels: train-labels}}, shuffle, repeat, "
      "{normalize: {mean: 0.5}}, {batch: 16}]"};
  EXPECT_THAT(Train("endless", stream),
              FailsWith(StatusCode::kInvalidArgument, "set train.max_steps"));
  EXPECT_FALSE(fs::exists(problem_ / "endless"));
  std::vector<std::string> limited = stream;
  limited.push_back("train.max_steps=9");
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("limited", limited));
  EXPECT_EQ(summary.step, 9);
}

struct UntrainableCase {
  const char *name, *set, *says;
  StatusCode code = StatusCode::kInvalidArgument;
};
constexpr UntrainableCase kUntrainable[] = {
    {"BatchLargerThanTheData", "data.train.batch.size=1000", "data.train gives no batch"},
    {"UnknownInput", "train.input=picture", "picture"},
    {"NotNormalized",
     "data.train=[{idx: {images: train-images, labels: train-labels}}, {batch: 4}]", "normalize"},
    {"NotBatchedEval",
     "data.eval=[{idx: {images: eval-images, labels: eval-labels}}, {normalize: {mean: 0.5}}]",
     "while checking data.eval"},
    {"EvalWithoutEnd",
     "data.eval=[{idx: {images: eval-images, labels: eval-labels}}, {normalize: {mean: 0.5}}, "
     "{batch: 4}, repeat]",
     "data.eval never ends"},
    {"EvalWithoutABatch", "data.eval.batch={size: 1000, drop_remainder: true}",
     "data.eval gives no batch"},
    {"UnknownDevice", "train.device=tpu", "must be auto, cpu, cuda"},
    {"TooFewClasses", "model.mlp.classes=3", "has class number 3, but the model has 3 classes",
     StatusCode::kDataLoss},
    {"TooSmallForTheModel", "model={convnet: {channels: [4, 4, 4, 4]}}", "too small for 4 blocks"},
};

TEST_F(TrainerTest, WhatCannotBeTrainedIsRefusedWithTheReason) {
  for (const UntrainableCase& broken : kUntrainable) {
    SCOPED_TRACE(broken.name);
    EXPECT_THAT(Train(broken.name, {"data.classes=[]", broken.set}),
                FailsWith(broken.code, broken.says));
  }
}

TEST_F(TrainerTest, AModelThatCannotBeMadeLeavesNoDirectory) {
  EXPECT_FALSE(Train("run", {"model={convnet: {channels: [4, 4, 4, 4]}}"}).ok());
  EXPECT_FALSE(fs::exists(problem_ / "run"));
}

}  // namespace
}  // namespace stoker
