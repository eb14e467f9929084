#include <atomic>
#include <filesystem>
#include <thread>

#include "stoker/base/worker_group.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/train/loop/trainer_testing.h"

namespace stoker::trainer_test {

namespace fs = std::filesystem;

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

TEST_F(TrainerTest, ARecipeThatIsRefusedClaimsNoDirectory) {
  int claims = 0;
  const auto claim = [&]() -> Result<RunPlace> {
    ++claims;
    return RunPlace{problem_ / "run"};
  };
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  Recipe wrong = recipe;
  wrong.train.options.target = "nothing";
  EXPECT_THAT(Trainer::CreateIn(wrong, claim), FailsWith(StatusCode::kInvalidArgument, "nothing"));
  wrong = recipe;
  wrong.train.memory.limit = "lots";
  EXPECT_THAT(Trainer::CreateIn(wrong, claim), FailsWith(StatusCode::kInvalidArgument, "lots"));
  EXPECT_EQ(claims, 0);
  STOKER_ASSERT_OK(Trainer::CreateIn(recipe, claim));
  EXPECT_EQ(claims, 1);
  EXPECT_TRUE(fs::exists(Paths("run").recipe()));
}

// A program that trains goes on with other pipelines.
TEST_F(TrainerTest, LimitsTheCpusOfPipelinesOnlyWhileItRuns) {
  class Looks final : public Watcher {
   public:
    void OnEpoch(const EpochEvent& event) override {
      Watcher::OnEpoch(event);
      limit = PipelineCpuLimit();
    }
    int limit = 0;
  } watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem_.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Create(std::move(recipe), problem_ / "run"));
  EXPECT_EQ(PipelineCpuLimit(), 0);
  STOKER_ASSERT_OK(trainer->Run(&watcher));
  EXPECT_GT(watcher.limit, 0);
  EXPECT_LE(watcher.limit, AvailableCpus());
  EXPECT_EQ(PipelineCpuLimit(), 0);
}

// Its first batches are read from the moment in which their pipeline is opened.
TEST_F(TrainerTest, LimitsTheCpusOfPipelinesWithoutAGapBetweenItsStartAndItsFirstStep) {
  class Looks final : public Watcher {
   public:
    void OnStart(const StartEvent& event) override {
      Watcher::OnStart(event);
      started = true;
      while (looks == 0) std::this_thread::yield();
    }
    void OnStep(const StepEvent& event) override {
      Watcher::OnStep(event);
      started = false;
    }
    std::atomic<bool> started = false;
    std::atomic<int64_t> looks = 0, without = 0;
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem_.Load({"train.max_steps=1"}));
  for (int run = 0; run < 20; ++run) {
    Looks watcher;
    const std::jthread look([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const bool before = watcher.started;
        const bool none = PipelineCpuLimit() == 0;
        if (!before || !watcher.started) continue;
        ++watcher.looks;
        if (none) ++watcher.without;
      }
    });
    STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                                Trainer::Create(recipe, problem_ / fmt::format("run-{}", run)));
    STOKER_ASSERT_OK(trainer->Run(&watcher));
    EXPECT_EQ(watcher.without, 0);
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
                                          Pair("eval", 12), Pair("train", 16), Pair("train", 18),
                                          Pair("eval", 18)));
}

TEST_F(TrainerTest, EqualRecipesGiveEqualWeightsAndAnotherSeedDoesNot) {
  STOKER_ASSERT_OK(Train("one"));
  STOKER_ASSERT_OK(Train("two", {"train.feed_threads=3"}));
  STOKER_ASSERT_OK(Train("other", {"train.seed=2"}));
  EXPECT_EQ(WeightsOf("one"), WeightsOf("two"));
  EXPECT_NE(WeightsOf("one"), WeightsOf("other"));
}

TEST_F(TrainerTest, EvaluationsWhoseBatchesAreMadeAheadGiveTheSame) {
  Watcher as_asked, ahead;
  STOKER_ASSERT_OK(Train("as-asked", {"train.device_prefetch=0"}, &as_asked));
  STOKER_ASSERT_OK(Train("ahead", {"train.device_prefetch=3"}, &ahead));
  ASSERT_EQ(as_asked.evaluations.size(), ahead.evaluations.size());
  for (size_t i = 0; i < ahead.evaluations.size(); ++i) {
    EXPECT_EQ(as_asked.evaluations[i].evaluation.loss, ahead.evaluations[i].evaluation.loss);
    EXPECT_EQ(as_asked.evaluations[i].evaluation.samples, ahead.evaluations[i].evaluation.samples);
  }
  EXPECT_EQ(WeightsOf("as-asked"), WeightsOf("ahead"));
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

TEST_F(TrainerTest, WhatIsEvaluatedAndWrittenIsTheAverage) {
  Watcher plain, averaged;
  STOKER_ASSERT_OK(Train("plain", {}, &plain));
  STOKER_ASSERT_OK(Train("averaged", {"train.average=ema"}, &averaged));
  EXPECT_NE(WeightsOf("plain"), WeightsOf("averaged"));
  EXPECT_NE(plain.evaluations[0].evaluation.loss, averaged.evaluations[0].evaluation.loss);
  // Training itself does not see it.
  EXPECT_EQ(plain.last_step.loss, averaged.last_step.loss);
}

TEST_F(TrainerTest, CheckpointsAlsoComeEveryFewSteps) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", {"train.checkpoint.every_steps=4"}, &watcher));
  EXPECT_THAT(watcher.checkpoints, testing::ElementsAre(4, 6, 8, 12, 16, 18));
}

TEST_F(TrainerTest, EvaluatesEveryFewStepsAndAtTheEnd) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", {"train.eval_every_steps=4"}, &watcher));
  std::vector<int64_t> steps;
  for (const EvaluateEvent& event : watcher.evaluations) steps.push_back(event.step);
  EXPECT_THAT(steps, testing::ElementsAre(4, 8, 12, 16, 18));
}

TEST_F(TrainerTest, EpochsAndEvaluationsHaveNoMoreBatchesThanTheLimit) {
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", {"train.limit_batches={train: 2, eval: 1}"}, &watcher));
  EXPECT_EQ(watcher.start.total_steps, 6);
  EXPECT_EQ(watcher.start.steps_per_epoch, 2);
  EXPECT_EQ(watcher.evaluations.at(0).evaluation.samples, 10);
  STOKER_ASSERT_OK(Train("high", {"train.limit_batches={train: 99, eval: 99}"}));
  STOKER_ASSERT_OK(Train("none"));
  EXPECT_EQ(WeightsOf("high"), WeightsOf("none"));
}

// Always the same batch, so each loss is that of the batch before it, made smaller.
TEST_F(TrainerTest, OverfitsTheSameFewBatches) {
  const std::vector<std::string> set = {"train.overfit_batches=1", "train.epochs=60",
                                        "model.mlp.dropout=0",
                                        "train.schedule={constant: {lr: 0.03}}"};
  Watcher watcher;
  STOKER_ASSERT_OK(Train("run", set, &watcher));
  EXPECT_EQ(watcher.start.total_steps, 60);
  EXPECT_LT(watcher.last_step.loss, .05);
  Watcher more;
  STOKER_ASSERT_OK(Train("more", {"train.overfit_batches=99", "train.epochs=2"}, &more));
  EXPECT_EQ(more.start.total_steps, 12);
}

// The steps of the lines of a run's metrics.jsonl of this kind.
std::vector<int64_t> StepsOfLines(const std::vector<std::string>& lines, const char* kind) {
  std::vector<int64_t> steps;
  for (const std::string& line : lines) {
    const Json json = Json::parse(line);
    if (json["kind"] == kind) steps.push_back(json["step"].get<int64_t>());
  }
  return steps;
}

TEST_F(TrainerTest, TheLastStepsHaveALineHoweverFewTheyAre) {
  STOKER_ASSERT_OK(Train("short", {"train.log_every=50"}));
  EXPECT_THAT(StepsOfLines(MetricsOf("short"), "train"), testing::ElementsAre(18));
  STOKER_ASSERT_OK(Train("more", {"train.log_every=8"}));
  EXPECT_THAT(StepsOfLines(MetricsOf("more"), "train"), testing::ElementsAre(8, 16, 18));
  STOKER_ASSERT_OK(Train("even", {"train.log_every=9"}));
  EXPECT_THAT(StepsOfLines(MetricsOf("even"), "train"), testing::ElementsAre(9, 18));
}

TEST_F(TrainerTest, TheLastStepsHaveALineWhereARunEndsBeforeItsTime) {
  STOKER_ASSERT_OK(
      Train("early", {"train.early_stopping={metric: accuracy, patience: 2, min_delta: 2}",
                      "train.epochs=9", "train.log_every=50"}));
  EXPECT_THAT(StepsOfLines(MetricsOf("early"), "train"), testing::ElementsAre(18));
  STOKER_ASSERT_OK(Train("told", {"train.callbacks=[{stop_at: {step: 7}}]", "train.log_every=50"}));
  EXPECT_THAT(StepsOfLines(MetricsOf("told"), "train"), testing::ElementsAre(7));
}

TEST_F(TrainerTest, ARunShorterThanItsHistogramsAreApartHasThoseOfItsLastStep) {
  STOKER_ASSERT_OK(Train("run", {"train.tensorboard={enabled: true, histograms: 200}"}));
  std::string events;
  for (const auto& file : fs::directory_iterator(problem_ / "run")) {
    const std::string name = file.path().filename().string();
    if (name.find("tfevents") != name.npos) events += ReadFileForTest(file.path().string());
  }
  EXPECT_THAT(events, testing::HasSubstr("gradients/1.weight"));
}

TEST_F(TrainerTest, AWarmupThatTheRunEndsInIsWarnedOf) {
  Watcher longer, fits;
  STOKER_ASSERT_OK(Train("longer", {"train.warmup={epochs: 5}"}, &longer));
  EXPECT_THAT(longer.start.warnings,
              testing::ElementsAre(
                  testing::HasSubstr("train.warmup (--set train.warmup): it takes 30 steps and the "
                                     "run ends after 18")));
  STOKER_ASSERT_OK(Train("fits", {"train.warmup={epochs: 2}"}, &fits));
  EXPECT_THAT(fits.start.warnings, testing::IsEmpty());
}

TEST_F(TrainerTest, StopsAtTheFirstEvaluationAfterSomeEpochsThatReachesTheGoal) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      Train("run", {"train.early_stopping={goal: 1e6, after_epochs: 1}", "train.epochs=9"}));
  EXPECT_EQ(summary.step, 12);
  EXPECT_THAT(summary.ended, testing::EndsWith("and 1e+06 was the goal"));
}

TEST_F(TrainerTest, StopsEarlyWhereEvaluationsGetNoBetter) {
  const std::vector<std::string> set = {
      "train.early_stopping={metric: accuracy, patience: 2, min_delta: 2}", "train.epochs=9"};
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run", set));
  EXPECT_EQ(summary.step, 18);  // the first is the best, two more are not better by 2
  EXPECT_FALSE(summary.interrupted);
  EXPECT_THAT(summary.ended, testing::StartsWith("early stopping: accuracy has not become better"));
  EXPECT_TRUE(fs::exists(Paths("run").weights()));
  const std::string weights = WeightsOf("run");
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary again, Resume("run", set, &watcher));
  EXPECT_EQ(again.ended, summary.ended);
  EXPECT_EQ(watcher.steps, 0);
  EXPECT_EQ(WeightsOf("run"), weights);
}

TEST_F(TrainerTest, TheBestCheckpointStaysBesideTheNewest) {
  // Training makes it worse: the first evaluation is the best.
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      Train("run",
            {"train.checkpoint={keep: 1, best: loss}", "train.epochs=4",
             "train.schedule={constant: {lr: 0.000001}}", "train.checkpoint.best_mode=max"}));
  EXPECT_EQ(summary.best_step, 6);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto steps,
                              CheckpointStore(Paths("run").checkpoints(), 1).Steps());
  EXPECT_THAT(steps, testing::ElementsAre(6, 24));
}

TEST_F(TrainerTest, CheckpointsAlsoComeByTheClock) {
  Watcher watcher;
  STOKER_ASSERT_OK(
      Train("run", {"train.checkpoint.every_minutes=1.0e-12", "train.epochs=1"}, &watcher));
  EXPECT_THAT(watcher.checkpoints, testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(TrainerTest, TheSanityCheckChangesNoByte) {
  STOKER_ASSERT_OK(Train("with"));
  STOKER_ASSERT_OK(Train("without", {"train.sanity=false"}));
  EXPECT_EQ(WeightsOf("with"), WeightsOf("without"));
  EXPECT_EQ(MetricsOf("with"), MetricsOf("without"));
}

TEST_F(TrainerTest, MaxStepsEndsItEarlyWithEverythingWritten) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run", {"train.max_steps=8"}));
  EXPECT_FALSE(summary.interrupted);
  EXPECT_EQ(summary.step, 8);
  EXPECT_TRUE(summary.last_evaluation.has_value());
  EXPECT_TRUE(fs::exists(Paths("run").weights()));
}

}  // namespace stoker::trainer_test
