// Several processes that train one run: what they compute is what one process computes.
#include <cmath>

#include "stoker/cluster/ranks_testing.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_ranks_test {

using Settings = std::vector<std::string>;

// No dropout, since each rank has draws of its own, and no batch norm.
const Settings kAlike = {"model={mlp: {classes: 4, hidden: [16], dropout: 0}}", "train.log_every=1",
                         "train.tune=off"};

Settings With(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
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

  Result<std::unique_ptr<Trainer>> TrainerOf(const std::shared_ptr<Group>& group, Recipe recipe,
                                             const std::string& run, bool resume) const {
    if (group->membership().rank > 0) return Trainer::Follow(std::move(recipe), group, resume);
    if (resume) return Trainer::Resume(std::move(recipe), problem_ / run, {.group = group});
    return Trainer::CreateIn(
        std::move(recipe), [&] { return RunPlace{problem_ / run}; }, DataCheck::kPlaces, {}, group);
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
  // With dropout, whose draws are each rank's own.
  const Settings set = {"train.tune=off"};
  TrainIn(3, "first", set);
  TrainIn(3, "second", set);
  EXPECT_EQ(WeightsOf("second"), WeightsOf("first"));
  EXPECT_EQ(MetricsOf("second"), MetricsOf("first"));
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
  } cases[] = {{{"data.train.3.batch={size: 2}"}, "3 processes share the rows of each"},
               {{"train.callbacks=[noise_scale]"}, "noise_scale"}};
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

// The labels of one rank's rows alone are wrong.
TEST_F(TrainerRanksTest, AnErrorOfOneIsToldByAllAndTheStepsDoneAreStored) {
  // In order, 4 batches of 24: the last row of the third belongs to the last rank.
  Array labels = QuadrantLabels(96);
  labels.values<uint8_t>()[71] = 9;
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", labels));
  const Settings set =
      With(kAlike, {"data.train=[{idx: {images: train-images, labels: train-labels}}, {normalize: "
                    "{mean: 0.5, std: 0.25}}, {batch: 24}]"});
  AsRanks(3, [&](Group& group) {
    const std::shared_ptr<Group> borrowed(&group, [](Group*) {});
    STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load(set));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Trainer> trainer,
                                TrainerOf(borrowed, std::move(recipe), "wrong", false));
    const Result<TrainSummary> summary = trainer->Run();
    const bool own = group.membership().rank == 2;
    EXPECT_THAT(summary, FailsWith(StatusCode::kDataLoss, own ? "71" : "rank 2 failed: "));
    EXPECT_EQ(summary.status().message().starts_with("rank 2 failed: "), !own);
  });
  EXPECT_TRUE(std::filesystem::exists(CheckpointOf("wrong", 2)));
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
