// Several processes that train one run: what they compute is what one process computes.
#include <cmath>

#include "stoker/cluster/ranks_testing.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_ranks_test {

using Settings = std::vector<std::string>;

const Settings kAlike = {"model={mlp: {classes: 4, hidden: [16], dropout: 0}}", "train.log_every=1",
                         "train.tune=off"};

Settings With(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// Batch norms, accumulation and a ragged last batch.
Settings WithNorms(const Settings& more) {
  return With({"model={convnet: {classes: 4, channels: [8, 8]}}", "train.accumulate=2",
               "data.train.3.batch={size: 13}"},
              more);
}

class TrainerRanksTest : public TrainerTest {
 protected:
  // Trains in `world` processes; all end with success, and alike.
  //   stop_at  the step at which the last rank is asked to stop; nothing: none is
  void TrainIn(int64_t world, const std::string& run, const Settings& set, bool resume = false,
               std::optional<int64_t> stop_at = {}) {
    AsRanks(world, [&](Group& group) {
      const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
      STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(set));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Trainer> trainer,
                                  TrainerOf(borrowed, std::move(recipe), run, resume));
      Watcher watcher;
      if (stop_at && group.membership().rank == world - 1) watcher.stop_after = *stop_at;
      STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary,
                                  trainer->Run(&watcher, &watcher.stop));
      EXPECT_EQ(summary.interrupted, stop_at.has_value());
      // The others hear of it in the step that follows, which is undone if its batch is not there.
      if (!stop_at) return;
      EXPECT_THAT(summary.step, testing::AnyOf(*stop_at, *stop_at + 1));
    });
  }

  std::vector<Json> LinesOf(const std::string& run, const char* kind) const {
    std::vector<Json> lines;
    for (const std::string& line : MetricsOf(run)) {
      Json json = Json::parse(line);
      if (json["kind"] == kind) lines.push_back(std::move(json));
    }
    return lines;
  }

  // The losses of the first `steps` steps differ by rounding alone.
  void ExpectSameLosses(const std::string& run, const std::string& alone, size_t steps) const {
    const std::vector<Json> of_run = LinesOf(run, "train"), of_one = LinesOf(alone, "train");
    ASSERT_EQ(of_run.size(), of_one.size());
    for (size_t i = 0; i < std::min(steps, of_run.size()); ++i) {
      const double loss = of_run[i]["loss"], wanted = of_one[i]["loss"];
      EXPECT_NEAR(loss, wanted, 1e-5) << "step " << i + 1;
      EXPECT_EQ(of_run[i]["step"], of_one[i]["step"]);
    }
  }
};

TEST_F(TrainerRanksTest, MakeTheStepsOfOneProcess) {
  const struct {
    const char* name;
    Settings set;
  } cases[] = {
      {"sgd", {"train.optimizer={sgd: {momentum: 0.9}}"}},
      {"adamw", {"train.optimizer={adamw: {weight_decay: 0.1}}"}},
      {"ragged", {"train.optimizer=sgd", "data.train.3.batch={size: 13}"}},
      // The last batch of an epoch has one row, so fewer than there are ranks.
      {"one", {"train.optimizer=sgd", "data.train.3.batch={size: 19}"}},
      {"accumulate", {"train.accumulate=4", "data.train.3.batch={size: 5}"}},
      {"clip", {"train.optimizer=sgd", "train.clip={norm: 0.2}"}},
      {"average", {"train.average={kind: ema, decay: 0.9}"}},
      {"weights",
       {"train.loss={cross_entropy: {weights: [1, 2, 3, 0.5]}}", "data.train.3.batch={size: 4}"}},
      {"small_buckets", {"train.distributed.bucket_mb=0.001"}},
      {"skip", {"train.on_nonfinite=skip"}},
      {"dropout", {"model.mlp.dropout=0.3", "data.train.3.batch={size: 13}", "train.accumulate=2"}},
      {"norms_sgd",
       WithNorms({"train.optimizer={sgd: {momentum: 0.9}}", "train.clip={norm: 0.5}"})},
      {"norms_adamw", WithNorms({"train.optimizer=adamw", "train.clip={norm: 0.5}"})},
      {"norms_fused", WithNorms({"train.memory_format=channels_last", "train.optimizer=sgd"})},
      {"norms_again", WithNorms({"train.memory_format=channels_last", "train.optimizer=sgd",
                                 "train.activation_checkpointing=[\"*\"]"})},
      {"norms_of_rows",
       {"model={mlp: {classes: 4, hidden: [8], batch_norm: true}}", "train.optimizer=sgd",
        "data.train.3.batch={size: 13}"}},
      // Ranks without a row in the last batch.
      {"norms_one",
       WithNorms({"train.optimizer=sgd", "data.train.3.batch={size: 19}", "train.accumulate=1"})},
  };
  for (const auto& [name, set] : cases) {
    SCOPED_TRACE(name);
    const Settings all = With(kAlike, set);
    const std::string alone = std::string(name) + "-alone";
    STOKER_ASSERT_OK(Train(alone, all));
    for (const int64_t world : {2, 3}) {
      const std::string run = fmt::format("{}-{}", name, world);
      TrainIn(world, run, all);
      ExpectSameLosses(run, alone, 10);
      ASSERT_EQ(LinesOf(run, "eval").size(), LinesOf(alone, "eval").size());
      const Json last = LinesOf(run, "eval").back(), wanted = LinesOf(alone, "eval").back();
      EXPECT_NEAR(last["loss"].get<double>(), wanted["loss"].get<double>(), 2e-3);
      EXPECT_EQ(last["samples"], wanted["samples"]);
    }
  }
}

TEST_F(TrainerRanksTest, MeasureAsOneProcess) {
  const Settings set = With(kAlike, {"train.metrics=[confusion, auc, {top: {k: 2}}]",
                                     "train.epochs=1", "train.optimizer=sgd",
                                     // Moves nothing, so that all have the same weights.
                                     "train.schedule={constant: {lr: 1e-30}}"});
  STOKER_ASSERT_OK(Train("alone", set));
  TrainIn(3, "three", set);
  EXPECT_EQ(LinesOf("three", "eval"), LinesOf("alone", "eval"));
}

TEST_F(TrainerRanksTest, TwiceGiveTheSameBytes) {
  const std::pair<const char*, Settings> cases[] = {
      {"dropout", {}},
      {"norms", {"model={convnet: {classes: 4, channels: [8]}}"}},
      {"norms of rows", {"model={mlp: {classes: 4, hidden: [8], batch_norm: true}}"}},
      {"bf16", {"train.distributed.gradient_type=bf16"}},
      {"fp16", {"train.distributed.gradient_type=fp16"}},
      {"local",
       {"train.distributed.local_steps=3", "model={convnet: {classes: 4, channels: [8]}}"}}};
  for (const auto& [name, set] : cases) {
    SCOPED_TRACE(name);
    const std::string first = std::string(name) + "-first", second = std::string(name) + "-second";
    TrainIn(3, first, With({"train.tune=off", "train.epochs=1"}, set));
    TrainIn(3, second, With({"train.tune=off", "train.epochs=1"}, set));
    EXPECT_EQ(WeightsOf(second), WeightsOf(first));
    EXPECT_EQ(MetricsOf(second), MetricsOf(first));
  }
}

TEST_F(TrainerRanksTest, AreStoppedByAnyOfThemAndGoOnToTheSameBytes) {
  const Settings set = {"train.tune=off"};
  TrainIn(2, "whole", set);
  TrainIn(2, "stopped", set, /*resume=*/false, /*stop_at=*/3);
  EXPECT_FALSE(std::filesystem::exists(Paths("stopped").weights()));
  TrainIn(2, "stopped", set, /*resume=*/true);
  EXPECT_EQ(WeightsOf("stopped"), WeightsOf("whole"));
  EXPECT_EQ(MetricsOf("stopped"), MetricsOf("whole"));
}

TEST_F(TrainerRanksTest, ContinueInTheMiddleOfAnEpochInAnotherNumber) {
  // Ragged, so that a wrong place shows.
  const Settings set = With(kAlike, {"data.train.3.batch={size: 13}", "train.epochs=2"});
  STOKER_ASSERT_OK(Train("alone", set));
  for (const int64_t world : {1, 2, 4}) {
    const std::string run = fmt::format("then-{}", world);
    TrainIn(3, run, set, /*resume=*/false, /*stop_at=*/3);
    if (world == 1) {
      STOKER_ASSERT_OK(Resume(run, set));
    } else {
      TrainIn(world, run, set, /*resume=*/true);
    }
    ExpectSameLosses(run, "alone", 10);
  }
}

TEST_F(TrainerRanksTest, AreRefusedWhatTheyCannotDo) {
  const struct {
    Settings set;
    const char* says;
  } cases[] = {
      {{"data.train.3.batch={size: 2}"}, "3 processes share the rows of each"},
      {{"train.callbacks=[noise_scale]"}, "noise_scale"},
      {{"train.distributed.shard_optimizer=true", "train.checkpoint.every_minutes=1"},
       "clocks differ"},
      {{"train.distributed.local_steps=2", "train.checkpoint.every_minutes=1"}, "clocks differ"},
      {{"train.distributed={local_steps: 2, shard_optimizer: true}"}, "shard_optimizer"},
      {{"train.distributed={local_steps: 2, sync_batch_norm: true}"}, "sync_batch_norm"},
      {{"train.distributed={local_steps: 2, gradient_type: bf16}"}, "gradient_type"},
      {{"train.distributed.local_steps=2", "train.precision=fp16"}, "train.precision"}};
  for (const auto& [set, says] : cases) {
    AsRanks(3, [&, &says = says, &set = set](Group& group) {
      const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
      STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(set));
      EXPECT_THAT(TrainerOf(borrowed, std::move(recipe), "refused", false),
                  FailsWith(StatusCode::kInvalidArgument, says));
    });
    EXPECT_FALSE(std::filesystem::exists(problem_ / "refused"));
  }
}

TEST_F(TrainerRanksTest, WithAStateThatIsSharedOutGiveTheSameBytes) {
  const Settings sharded = {"train.distributed.shard_optimizer=true"};
  for (const char* optimizer : {"adamw", "muon", "lamb"}) {
    SCOPED_TRACE(optimizer);
    const Settings set = With(kAlike, {fmt::format("train.optimizer={}", optimizer),
                                       "train.average={kind: ema, decay: 0.9}", "train.epochs=1"});
    const std::string whole = fmt::format("{}-whole", optimizer);
    const std::string shared = fmt::format("{}-shared", optimizer);
    TrainIn(3, whole, set);
    TrainIn(3, shared, With(set, sharded));
    EXPECT_EQ(WeightsOf(shared), WeightsOf(whole));
    EXPECT_EQ(MetricsOf(shared), MetricsOf(whole));
  }
}

// The checkpoint is that of one process, and any number of processes takes its parts of it.
TEST_F(TrainerRanksTest, WithAStateThatIsSharedOutContinueInAnotherNumber) {
  const Settings sharded = {"train.distributed.shard_optimizer=true"};
  const Settings set = With(kAlike, {"train.optimizer=adamw", "train.epochs=2"});
  STOKER_ASSERT_OK(Train("alone", set));
  TrainIn(3, "stopped", With(set, sharded), /*resume=*/false, /*stop_at=*/3);
  const auto copy_to = [&](const std::string& run) {
    std::filesystem::copy(problem_ / "stopped", problem_ / run,
                          std::filesystem::copy_options::recursive);
  };
  for (const int64_t world : {1, 2, 4}) {
    SCOPED_TRACE(world);
    const std::string whole = fmt::format("whole-{}", world);
    const std::string shared = fmt::format("shared-{}", world);
    copy_to(whole);
    copy_to(shared);
    if (world == 1) {
      STOKER_ASSERT_OK(Resume(whole, set));
      STOKER_ASSERT_OK(Resume(shared, With(set, sharded)));
    } else {
      TrainIn(world, whole, set, /*resume=*/true);
      TrainIn(world, shared, With(set, sharded), /*resume=*/true);
    }
    EXPECT_EQ(WeightsOf(shared), WeightsOf(whole));
    ExpectSameLosses(shared, "alone", 10);
  }
}

// The names of the files with tensors of the newest checkpoint.
std::vector<std::string> TensorFilesOf(const std::filesystem::path& run) {
  const CheckpointStore store((run / "checkpoints").string(), 1);
  std::vector<std::string> names;
  const auto steps = store.Steps();
  if (!steps.ok() || steps->empty()) return names;
  for (const auto& file : std::filesystem::directory_iterator(store.PathOf(steps->back()))) {
    if (HoldsTensors(file.path().filename().string()))
      names.push_back(file.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

TEST_F(TrainerRanksTest, WriteCheckpointsInPartsThatAnyNumberContinues) {
  const Settings parts = {"train.checkpoint.parts=true"};
  const std::pair<const char*, Settings> cases[] = {
      {"sharded", {"train.distributed.shard_optimizer=true"}},
      {"average", {"train.average=ema"}},
      {"local", {"train.distributed.local_steps=2"}},
      // Moments of norms are those of rank 0.
      {"norms", WithNorms({"train.distributed.sync_batch_norm=false", "train.average=ema"})},
      // Fewer tensors than ranks.
      {"few", {"model={mlp: {classes: 4, hidden: []}}", "train.optimizer=sgd"}}};
  for (const auto& [name_of_case, more] : cases) {
    SCOPED_TRACE(name_of_case);
    const Settings set = With(kAlike, With({"train.optimizer=adamw", "train.epochs=2"}, more));
    const std::string name = name_of_case;
    TrainIn(3, name + "-whole", set, /*resume=*/false, /*stop_at=*/3);
    TrainIn(3, name + "-parts", With(set, parts), /*resume=*/false, /*stop_at=*/3);
    EXPECT_THAT(TensorFilesOf(problem_ / (name + "-parts")),
                testing::ElementsAre("tensors-00000-of-00003.safetensors",
                                     "tensors-00001-of-00003.safetensors",
                                     "tensors-00002-of-00003.safetensors"));
    for (const int64_t world : {1, 2, 4}) {
      const auto resumed = [&](const std::string& of, const Settings& with) {
        const std::string run = fmt::format("{}-{}", of, world);
        std::filesystem::copy(problem_ / of, problem_ / run,
                              std::filesystem::copy_options::recursive);
        if (world > 1) {
          TrainIn(world, run, with, /*resume=*/true);
        } else {
          STOKER_EXPECT_OK(Resume(run, with));
        }
        return WeightsOf(run);
      };
      EXPECT_EQ(resumed(name + "-parts", With(set, parts)), resumed(name + "-whole", set)) << world;
    }
  }
}

TEST_F(TrainerRanksTest, InPartsTrainToTheSameBytes) {
  const Settings set = With(kAlike, {"train.checkpoint.parts=true", "train.epochs=2"});
  TrainIn(2, "parts", set);
  TrainIn(2, "whole", With(kAlike, {"train.epochs=2"}));
  EXPECT_EQ(WeightsOf("parts"), WeightsOf("whole"));
  EXPECT_EQ(MetricsOf("parts"), MetricsOf("whole"));
}

TEST_F(TrainerRanksTest, LearnAsWellFromGradientsOfSixteenBits) {
  const Settings set = With(kAlike, {"train.optimizer=sgd"});
  STOKER_ASSERT_OK(Train("alone", set));
  for (const char* type : {"bf16", "fp16"}) {
    SCOPED_TRACE(type);
    TrainIn(2, type, With(set, {fmt::format("train.distributed.gradient_type={}", type)}));
    const std::vector<Json> of_run = LinesOf(type, "train"), of_one = LinesOf("alone", "train");
    for (size_t i = 0; i < of_one.size(); ++i)
      EXPECT_NEAR(of_run[i]["loss"].get<double>(), of_one[i]["loss"].get<double>(), 0.01);
  }
}

// The labels of one rank's rows alone are wrong.
TEST_F(TrainerRanksTest, AnErrorOfOneIsToldByAllAndTheStepsDoneAreStored) {
  // In order, 4 batches of 24: the last row of the third belongs to the last rank.
  Array labels = QuadrantLabels(96);
  labels.values<uint8_t>()[71] = 9;
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", labels));
  const Settings set =
      With(kAlike, {"data.train=[{idx: {images: train-images, labels: train-labels}}, {normalize: "
                    "{mean: 0.5, std: 0.25}}, {batch: 24}]"});
  // With norms the others are in the middle of their pass.
  const std::pair<const char*, const char*> models[] = {
      {"wrong", "model.mlp.dropout=0"}, {"norms", "model={convnet: {classes: 4, channels: [8]}}"}};
  for (const auto& [run, model] : models) {
    AsRanks(3, [&, &run = run, &model = model](Group& group) {
      const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
      STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(With(set, {model})));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Trainer> trainer,
                                  TrainerOf(borrowed, std::move(recipe), run, false));
      const Result<TrainSummary> summary = trainer->Run();
      const bool own = group.membership().rank == 2;
      EXPECT_THAT(summary, FailsWith(StatusCode::kDataLoss, own ? "71" : "rank 2 failed: "));
      EXPECT_EQ(summary.status().message().starts_with("rank 2 failed: "), !own);
    });
    EXPECT_TRUE(std::filesystem::exists(CheckpointOf(run, 2)));
  }
}

TEST_F(TrainerRanksTest, WithLocalStepsLearnAsWell) {
  const Settings set = With(kAlike, {"train.optimizer={sgd: {momentum: 0.9}}", "train.epochs=4"});
  STOKER_ASSERT_OK(Train("alone", set));
  TrainIn(2, "local", With(set, {"train.distributed.local_steps=3"}));
  const Json of_local = LinesOf("local", "eval").back(), of_one = LinesOf("alone", "eval").back();
  EXPECT_EQ(of_local["samples"], of_one["samples"]);
  EXPECT_GT(of_local["accuracy"].get<double>(), 0.9);
  EXPECT_GT(of_one["accuracy"].get<double>(), 0.9);
}

// A checkpoint is made of the mean, so any number of processes continues from it.
TEST_F(TrainerRanksTest, WithLocalStepsContinueInAnotherNumber) {
  const Settings set = With(kAlike, {"train.distributed.local_steps=3", "train.epochs=2",
                                     "data.train.3.batch={size: 13}"});
  TrainIn(3, "stopped", set, /*resume=*/false, /*stop_at=*/4);
  for (const int64_t world : {1, 2, 4}) {
    const std::string run = fmt::format("then-{}", world);
    std::filesystem::copy(problem_ / "stopped", problem_ / run,
                          std::filesystem::copy_options::recursive);
    if (world == 1) {
      STOKER_ASSERT_OK(Resume(run, set));
    } else {
      TrainIn(world, run, set, /*resume=*/true);
    }
    EXPECT_EQ(LinesOf(run, "eval").size(), 2u);
  }
}

TEST_F(TrainerRanksTest, DecideAlikeAboutAStepThatIsNotFinite) {
  const Settings huge = {"train.optimizer={sgd: {momentum: 0}}",
                         "train.schedule={constant: {lr: 1e30}}", "train.on_nonfinite=skip",
                         "train.nonfinite_limit=3"};
  const Settings set = With(kAlike, huge);
  const Result<TrainSummary> alone = Train("alone", set);
  ASSERT_THAT(alone, FailsWith(StatusCode::kFailedPrecondition, ""));
  AsRanks(2, [&](Group& group) {
    const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
    STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(set));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Trainer> trainer,
                                TrainerOf(borrowed, std::move(recipe), "two", false));
    const Status status = trainer->Run().status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message().starts_with("rank 0 failed: epoch"), group.membership().rank > 0);
  });
  EXPECT_EQ(LinesOf("two", "train").size(), LinesOf("alone", "train").size());
}

TEST_F(TrainerRanksTest, GoBackTogether) {
  const Settings set =
      With(kAlike, {"train.optimizer={sgd: {momentum: 0}}", "train.schedule={constant: {lr: 1e30}}",
                    "train.on_nonfinite=rollback", "train.nonfinite_limit=2"});
  AsRanks(2, [&](Group& group) {
    const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
    STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(set));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Trainer> trainer,
                                TrainerOf(borrowed, std::move(recipe), "two", false));
    EXPECT_THAT(trainer->Run(), FailsWith(StatusCode::kFailedPrecondition, "rolled back 2 times"));
  });
}

}  // namespace stoker::trainer_ranks_test
