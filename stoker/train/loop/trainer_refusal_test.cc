#include <filesystem>

#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_refusal_test {

namespace fs = std::filesystem;

TEST_F(TrainerTest, AScheduleThatFollowsEvaluationsNeedsSome) {
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load({"train.schedule=plateau"}));
  recipe.data.eval.reset();
  EXPECT_THAT(Trainer::Create(std::move(recipe), problem_ / "run"),
              FailsWith(StatusCode::kInvalidArgument, "no data.eval; give it one"));
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

TEST_F(TrainerTest, ARecipeThatDoesNotFitTheRunLeavesTheRunAsItWas) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  const std::string recipe = ReadFileForTest(Paths("run").recipe());
  const std::string choices = ReadFileForTest(Paths("run").choices());
  // As a run killed after its checkpoint: lines that a resumed one would cut.
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
  if (!TestsOnTheCpu()) GTEST_SKIP() << "the test is about the CPU";
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  WriteFileForTest(Paths("run").choices(),
                   R"({"memory_format": "contiguous", "threads": 1, "device": "cuda:0"})");
  EXPECT_THAT(Resume("run"), FailsWith(StatusCode::kFailedPrecondition,
                                       "has computed on cuda:0 and would go on on cpu"));
}

// A plateau's rate depends on when it is evaluated.
TEST_F(TrainerTest, AChangedEvaluationIsRefusedByNameWhereTheScheduleFollowsIt) {
  const std::vector<std::string> plateau = {"train.schedule={plateau: {lr: 0.02}}"};
  STOKER_ASSERT_OK(TrainUntil("run", 6, plateau));
  EXPECT_THAT(Resume("run", {plateau[0], "train.eval_every_steps=2"}),
              FailsWith(StatusCode::kFailedPrecondition, "train.eval_every_steps: auto -> 2"));
  STOKER_EXPECT_OK(Resume("run", plateau));
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

// As a run looks that was stopped before shuffles of few elements were stored.
TEST_F(TrainerTest, ARunThatWasShuffledByAnEarlierVersionIsRefusedUnlessAllowed) {
  STOKER_ASSERT_OK(TrainUntil("run", 4));
  CheckpointStore store(Paths("run").checkpoints(), 1);
  STOKER_ASSERT_OK_AND_ASSIGN(CheckpointStore::Newest newest, store.LoadNewest());
  ASSERT_EQ(newest.checkpoint.state.erase("orders"), 1u);
  fs::remove_all(store.PathOf(newest.step));
  STOKER_ASSERT_OK(store.Write(newest.step, newest.checkpoint.tensors, newest.checkpoint.state));

  EXPECT_THAT(Resume("run"),
              FailsWith(StatusCode::kFailedPrecondition,
                        "begun by a version of Stoker that shuffles in other orders"));
  STOKER_EXPECT_OK(Resume("run", {}, nullptr, {.allow_changes = true}));
}

TEST_F(TrainerTest, AnotherModelOrOptimizerIsRefusedEvenWhereChangesAreAllowed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  EXPECT_THAT(Resume("run", {"model.mlp.hidden=8"}, nullptr, {.allow_changes = true}),
              FailsWith(StatusCode::kFailedPrecondition, "does not fit the recipe's model"));
  EXPECT_THAT(Resume("run", {"train.optimizer=lion"}, nullptr, {.allow_changes = true}),
              FailsWith(StatusCode::kFailedPrecondition, "another run with train.init_from"));
}

TEST_F(TrainerTest, DataThatHasChangedUnderTheRunIsNoticed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-images", QuadrantImages(64)));
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", QuadrantLabels(64)));
  EXPECT_THAT(Resume("run"), FailsWith(StatusCode::kFailedPrecondition,
                                       "data.train: train-images has 4112 bytes, it had 6160"));
  WriteFileForTest(Paths("run").data(), "null");
  EXPECT_THAT(Resume("run"),
              FailsWith(StatusCode::kDataLoss, "data.json: does not hold the marks"));
  // Of a run that kept no marks of its files.
  fs::remove(Paths("run").data());
  EXPECT_THAT(Resume("run"),
              FailsWith(StatusCode::kFailedPrecondition,
                        "an epoch had 6 steps when this checkpoint was stored and has 4 now"));
}

TEST_F(TrainerTest, WhereTheMarksOfTheDataAreMissingThatIsSaid) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  fs::remove(Paths("run").data());
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", {}, &watcher));
  EXPECT_THAT(
      watcher.start.warnings,
      testing::ElementsAre(testing::HasSubstr("data.json is missing, so it is not checked")));
}

TEST_F(TrainerTest, AFileReplacedByOneOfTheSameLengthIsRefusedByNameUnlessAllowed) {
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  Array labels = QuadrantLabels(96);
  labels.values<uint8_t>()[5] = 3;
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", labels));
  EXPECT_THAT(Resume("run"),
              FailsWith(StatusCode::kFailedPrecondition,
                        "the data files differ from those the run was made with: data.train: "
                        "train-labels has other content, in 104 bytes as before"));
  Watcher watcher;
  watcher.stop_after = 9;
  STOKER_ASSERT_OK(Resume("run", {}, &watcher, {.allow_changes = true}));
  EXPECT_THAT(watcher.start.warnings,
              testing::ElementsAre(testing::HasSubstr("data files were changed: data.train")));
  // What was allowed is what the run has now.
  STOKER_EXPECT_OK(Resume("run"));
}

TEST_F(TrainerTest, FilesThatWereOnlyTouchedOrMovedGoOnToTheSameBytes) {
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  const std::string elsewhere = problem_ / "elsewhere";
  fs::create_directory(elsewhere);
  for (const char* const file : {"train-images", "train-labels", "eval-images", "eval-labels"}) {
    fs::rename(problem_ / file, fs::path(elsewhere) / file);
    fs::last_write_time(fs::path(elsewhere) / file, fs::file_time_type::clock::now());
  }
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", {"data.root=" + elsewhere}, &watcher));
  EXPECT_THAT(watcher.start.warnings, testing::ElementsAre(testing::HasSubstr("data.root")));
  EXPECT_EQ(WeightsOf("run"), WeightsOf("whole"));
}

TEST_F(TrainerTest, AnEvaluationFileThatWasReplacedIsRefusedOnlyWhereWeightsDependOnIt) {
  const std::vector<std::string> plateau = {"train.schedule={plateau: {lr: 0.02}}"};
  STOKER_ASSERT_OK(TrainUntil("run", 6));
  STOKER_ASSERT_OK(TrainUntil("plateau", 6, plateau));
  Array labels = QuadrantLabels(32);
  labels.values<uint8_t>()[5] = 3;
  STOKER_ASSERT_OK(WriteIdx(problem_ / "eval-labels", labels));
  Watcher watcher;
  STOKER_ASSERT_OK(Resume("run", {}, &watcher));
  EXPECT_THAT(
      watcher.start.warnings,
      testing::ElementsAre(testing::HasSubstr("no weight depends: data.eval: eval-labels")));
  EXPECT_THAT(Resume("plateau", plateau),
              FailsWith(StatusCode::kFailedPrecondition, "data.eval: eval-labels has other"));
}

// The same command, put right, begins the run.
TEST_F(TrainerTest, ANewRunThatFailsBeforeItsFirstStepLeavesNoDirectory) {
  EXPECT_THAT(Train("run", {"train.callbacks=[{log_tensors: {match: 'fc.*'}}]",
                            "train.tensorboard.enabled=true"}),
              FailsWith(StatusCode::kInvalidArgument, "'fc.*' matches no parameter of the model"));
  EXPECT_FALSE(fs::exists(problem_ / "run"));
  STOKER_EXPECT_OK(Train("run", {"train.callbacks=[{log_tensors: {match: '1.*'}}]"}));
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
    {"BatchLargerThanTheData", "data.train.batch.size=1000",
     "data.train gives no batch: its 96 samples are fewer than one batch of 1000, and "
     "drop_remainder"},
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
     "data.eval gives no batch: its 32 samples are fewer than one batch of 1000, and "
     "drop_remainder"},
    {"UnknownDevice", "train.device=tpu", "must be auto, cpu, cuda"},
    {"TooFewClasses", "model.mlp.classes=3", "has class number 3, but the model has 3 classes",
     StatusCode::kDataLoss},
    {"UnknownMetric", "train.metrics=[f2]", "unknown metric 'f2'"},
    {"UnmeasuredBest", "train.checkpoint.best=f1", "while reading train.checkpoint.best"},
    {"UnmeasuredStop", "train.early_stopping.metric=auc", "train.early_stopping.metric"},
    {"TooManyWeights", "train.loss={cross_entropy: {weights: [1, 2]}}",
     "2 class weights, but the model tells 4"},
    {"ProfileThatEndsFirst", "train.callbacks=[{profile_steps: {first: 5, last: 4}}]",
     "last (4) comes before first (5)"},
    {"HogwildOfWholeGradients", "train.hogwild=2", "steps of this run move all weights"},
    {"HogwildThatAccumulates", "train={hogwild: 2, accumulate: 2}", "train.accumulate: with"},
    {"HogwildThatSkips", "train={hogwild: 2, on_nonfinite: skip}", "train.on_nonfinite: with"},
    {"HogwildWithHistograms", "train={hogwild: 2, tensorboard: {histograms: 5}}",
     "train.tensorboard.histograms: they"},
    {"HogwildWithANoiseScale", "train={hogwild: 2, callbacks: [{noise_scale: {every: 2}}]}",
     "train.callbacks: noise_scale"},
    {"TooSmallForTheModel", "model={convnet: {channels: [4, 4, 4, 4]}}", "too small for 4 blocks"},
};

TEST_F(TrainerTest, WhatCannotBeTrainedIsRefusedWithTheReason) {
  for (const UntrainableCase& broken : kUntrainable) {
    SCOPED_TRACE(broken.name);
    const StatusCode code =
        broken.code == StatusCode::kDataLoss ? CodeOfAWrongClass() : broken.code;
    EXPECT_THAT(Train(broken.name, {"data.classes=[]", broken.set}), FailsWith(code, broken.says));
  }
}

// 96 samples: the sixth batch of an epoch has one.
TEST_F(TrainerTest, ALastBatchOfOneSampleIsRefusedWhereANormCannotBeTrainedOnIt) {
  const std::vector<std::string> set = {"model={mlp: {classes: 4, batch_norm: true}}",
                                        "data.train.3.batch={size: 19}", "train.epochs=1"};
  const auto with = [&](const std::string& one) {
    std::vector<std::string> all = set;
    all.push_back(one);
    return all;
  };
  const Result<TrainSummary> refused = Train("run", set);
  EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument, "`drop_remainder: true`"));
  EXPECT_THAT(refused, FailsWith(StatusCode::kInvalidArgument,
                                 "one sample, as the last batch of data.train has"));
  EXPECT_FALSE(fs::exists(problem_ / "run"));
  STOKER_EXPECT_OK(Train("dropped", with("data.train.3.batch.drop_remainder=true")));
  STOKER_EXPECT_OK(Train("sooner", with("train.max_steps=5")));
  STOKER_EXPECT_OK(Train("limited", with("train.limit_batches.train=5")));
}

TEST_F(TrainerTest, ARunWhoseDirectoryLosesItsNameEndsAndWritesNothingUnderIt) {
  const std::vector<std::string> kStores = {"train.checkpoint={every_steps: 2, async: false}"};
  struct Renamer : Watcher {
    fs::path from, to;
    void OnStep(const StepEvent& event) override {
      if (event.step == 3) fs::rename(from, to);
    }
  } renamer;
  renamer.from = problem_ / "run";
  renamer.to = problem_ / "renamed";
  EXPECT_THAT(
      Train("run", kStores, &renamer),
      FailsWith(StatusCode::kFailedPrecondition, "renamed or removed while the run trained"));
  EXPECT_FALSE(fs::exists(problem_ / "run"));
  // What was stored before is there, and goes on.
  fs::rename(problem_ / "renamed", problem_ / "run");
  STOKER_ASSERT_OK(Resume("run", kStores));
  STOKER_ASSERT_OK(Train("whole", kStores));
  EXPECT_EQ(WeightsOf("run"), WeightsOf("whole"));
}

TEST_F(TrainerTest, AModelThatCannotBeMadeLeavesNoDirectory) {
  EXPECT_FALSE(Train("run", {"model={convnet: {channels: [4, 4, 4, 4]}}"}).ok());
  EXPECT_FALSE(fs::exists(problem_ / "run"));
}

}  // namespace stoker::trainer_refusal_test
