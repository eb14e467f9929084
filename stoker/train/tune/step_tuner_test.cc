#include "stoker/train/tune/step_tuner.h"

#include <ATen/Parallel.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "stoker/base/testing.h"
#include "stoker/base/worker_group.h"
#include "stoker/run/testing.h"
#include "stoker/train/models/convnet.h"
#include "stoker/train/step/graph_testing.h"
#include "stoker/train/step/random_state.h"
#include "stoker/train/tune/step_timer.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker::step_tuner_test {

// A run that is long enough for everything to be tried, of steps that are short.
Result<Recipe> ConvnetRecipe(const SmallProblem& problem, std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(),
                     {"model={convnet: {classes: 4, channels: [4]}}", "train.epochs=1000000"});
  return problem.Load(assignments);
}

Result<Tuned> TuneOnCpu(const Recipe& recipe) {
  STOKER_ASSIGN_OR_RETURN(const TrainingPlan plan, MakePlan(recipe));
  return Tune(recipe, plan, torch::kCPU);
}

std::vector<std::string> ChangesOf(const TuneReport& report) {
  std::vector<std::string> changes;
  for (const TuneTrial& trial : report.trials) changes.push_back(trial.change);
  return changes;
}

TEST(Tuner, TimesWhatTheRecipeLeavesOpenAndUsesTheLastThatWasKept) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Recipe recipe, ConvnetRecipe(problem, {"train.threads=auto", "train.precision=auto"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneOnCpu(recipe));
  const auto& trials = tuned.report.trials;
  std::vector<std::string> wanted = {"begin", "precision: bf16", "memory_format: contiguous"};
  EXPECT_GE(trials.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(trials[i].change, wanted[i]);
  for (const TuneTrial& trial : trials) {
    EXPECT_GT(trial.step_ms, 0) << trial.change << ": " << trial.verdict;
    EXPECT_GT(trial.steps, 0) << trial.change;
    EXPECT_FALSE(trial.verdict.empty()) << trial.change;
  }
  const auto last = std::find_if(trials.rbegin(), trials.rend(),
                                 [](const TuneTrial& trial) { return trial.kept; });
  EXPECT_EQ(last->choices, tuned.choices);
  EXPECT_EQ(at::get_num_threads(), tuned.choices.threads);
  EXPECT_EQ(trials.front().choices.memory_format, MemoryFormat::kChannelsLast);
}

// Whatever a step takes, it is too slow where there is no time, and never where there is no end.
TEST(Tuner, BeginsWithOneStepWhereThatIsTooSlowToCompareAndElseWithSeveral) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, ConvnetRecipe(problem, {}));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe));
  StepTimer timer(recipe, plan, torch::kCPU);
  const Choices first = FirstChoices(recipe, plan, torch::kCPU);
  STOKER_ASSERT_OK_AND_ASSIGN(const StepTimes slow, timer.Begin(first, /*most_seconds=*/0));
  EXPECT_EQ(slow.size(), 1u);
  STOKER_ASSERT_OK_AND_ASSIGN(const StepTimes quick, timer.Begin(first, /*most_seconds=*/1e9));
  EXPECT_EQ(quick.size(), 3u);
}

// Steps of a run on a machine that has other things to do from some time on.
struct Slowness {
  bool begun = false;
  int slow_steps = 0;  // half a second each, those since it has begun
};

class ModelThatBecomesSlow final : public Model {
 public:
  ModelThatBecomesSlow(std::shared_ptr<Model> model, Slowness& slowness)
      : model_(register_module("model", std::move(model))), slowness_(slowness) {}
  at::Tensor Forward(const at::Tensor& input) override {
    if (slowness_.begun) {
      ++slowness_.slow_steps;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    return model_->Forward(input);
  }

 private:
  std::shared_ptr<Model> model_;
  Slowness& slowness_;
};

// A comparison takes eight steps at least; here two of them take longer than all may.
TEST(Tuner, KeepsToItsShareButForOneStepWhereStepsBecomeSlow) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, ConvnetRecipe(problem, {"train.threads=1"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe));
  for (const StepKind kind : {StepKind::kComputing, StepKind::kWithData}) {
    Slowness slowness;
    Recipe slowing = recipe;
    slowing.model.build = [&](const auto&... args) -> Result<std::shared_ptr<Model>> {
      STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Model> model, recipe.model.build(args...));
      return std::make_shared<ModelThatBecomesSlow>(std::move(model), slowness);
    };
    StepTimer timer(slowing, plan, torch::kCPU);
    const Choices first = FirstChoices(slowing, plan, torch::kCPU);
    STOKER_ASSERT_OK(timer.Begin(first, /*most_seconds=*/1e9));
    slowness.begun = true;
    EXPECT_THAT(timer.Compare(first, first, kind, /*seconds=*/0.6, /*most_seconds=*/0.6),
                FailsWith(StatusCode::kCancelled, "time for the comparison is up"));
    EXPECT_GE(slowness.slow_steps, 1);
    EXPECT_LE(slowness.slow_steps, 2);
  }
}

TEST(Tuner, DividesTheCpusBetweenFeedingAndComputing) {
  if (AvailableCpus() < 2) GTEST_SKIP() << "one CPU cannot be divided";
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Recipe recipe,
      ConvnetRecipe(problem, {"train.threads=auto", "train.memory_format=contiguous"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneOnCpu(recipe));
  const std::vector<std::string> changes = ChangesOf(tuned.report);
  EXPECT_EQ(changes[1], fmt::format("threads: {}", AvailableCpus() / 2));
  EXPECT_THAT(changes, testing::Contains(testing::StartsWith("feed_threads: ")));
  for (const TuneTrial& trial : tuned.report.trials) {
    EXPECT_GT(trial.step_ms, 0) << trial.change << ": " << trial.verdict;
  }
}

TEST(Tuner, LeavesWhatTheRecipeFixes) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Recipe recipe,
      ConvnetRecipe(problem, {"train.threads=1", "train.memory_format=channels_last",
                              "train.feed_threads=1"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneOnCpu(recipe));
  EXPECT_EQ(tuned.choices, (Choices{.memory_format = MemoryFormat::kChannelsLast,
                                    .threads = 1,
                                    .flush_denormals = true}));
  EXPECT_THAT(tuned.report.trials, testing::IsEmpty());
}

TEST(Tuner, TimesNothingWhereItIsOffOrTheRunIsShort) {
  const SmallProblem problem;
  for (const auto& [set, why] : std::vector<std::pair<std::string, std::string>>{
           {"train.tune=off", "train.tune is off"}, {"train.epochs=3", "too short"}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                                ConvnetRecipe(problem, {"train.threads=auto", set}));
    STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneOnCpu(recipe));
    EXPECT_EQ(tuned.choices, (Choices{.memory_format = MemoryFormat::kChannelsLast,
                                      .threads = AvailableCpus(),
                                      .flush_denormals = true}));
    EXPECT_THAT(tuned.report.trials, testing::IsEmpty());
    EXPECT_THAT(tuned.report.reason, testing::HasSubstr(why));
    EXPECT_EQ(at::get_num_threads(), AvailableCpus());
  }
}

TEST(Tuner, DoesNotTimeLayoutsOfAModelWithoutImages) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                              problem.Load({"train.feed_threads=1", "train.epochs=1000000"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneOnCpu(recipe));
  EXPECT_EQ(
      tuned.choices,
      (Choices{.memory_format = MemoryFormat::kContiguous, .threads = 1, .flush_denormals = true}));
  EXPECT_THAT(tuned.report.trials, testing::IsEmpty());
}

TEST(Tuner, DoesNotFeedFewBatchesThatStay) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                              ConvnetRecipe(problem, {"train.overfit_batches=2"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneOnCpu(recipe));
  EXPECT_THAT(ChangesOf(tuned.report), testing::ElementsAre("begin", "memory_format: contiguous"));
}

// Nothing but train.graph is open.
Result<Tuned> TuneGraph(const SmallProblem& problem, const DeviceGraphMaker& new_graph,
                        const std::string& more = "train.seed=1") {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe,
                          ConvnetRecipe(problem, {"train.graph=auto", "train.threads=1",
                                                  "train.feed_threads=1", more}));
  STOKER_ASSIGN_OR_RETURN(const TrainingPlan plan, MakePlan(recipe));
  return Tune(recipe, plan, torch::kCPU, new_graph);
}

TEST(Tuner, TimesPassesThatAreRecordedWhereTheDeviceCan) {
  const SmallProblem problem;
  int replays = 0;
  const DeviceGraphMaker fake = [&](c10::Device) -> Result<std::unique_ptr<DeviceGraph>> {
    return std::make_unique<FakeGraph>(std::vector<at::Tensor>(), replays);
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneGraph(problem, fake));
  EXPECT_THAT(ChangesOf(tuned.report),
              testing::ElementsAre("begin", "graph: on", "memory_format: contiguous"));
  const TuneTrial& trial = tuned.report.trials[1];
  EXPECT_GT(trial.step_ms, 0) << trial.verdict;
  EXPECT_TRUE(trial.choices.graph);
  EXPECT_EQ(tuned.choices.graph, trial.kept);
  // All that were timed were launched as a whole, and the last that warmed up.
  EXPECT_GT(replays, trial.steps);
}

TEST(Tuner, SaysWhyPassesAreNotRecorded) {
  const SmallProblem problem;
  const DeviceGraphMaker failing = [](c10::Device) -> Result<std::unique_ptr<DeviceGraph>> {
    return std::make_unique<UnrecordableGraph>();
  };
  for (const auto& [set, why] : std::vector<std::pair<std::string, std::string>>{
           {"train.seed=1", "not possible: its launches could not be recorded"},
           {"train.accumulate=2", "not possible: accumulate"}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneGraph(problem, failing, set));
    ASSERT_GE(tuned.report.trials.size(), 2u);
    EXPECT_EQ(tuned.report.trials[1].change, "graph: on");
    EXPECT_THAT(tuned.report.trials[1].verdict, testing::HasSubstr(why));
    EXPECT_FALSE(tuned.choices.graph);
  }
}

TEST(Tuner, SaysNothingOfRecordingOnACpu) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, TuneGraph(problem, NewDeviceGraph));
  EXPECT_THAT(ChangesOf(tuned.report), testing::ElementsAre("begin", "memory_format: contiguous"));
}

// A model of the user's own, which says nothing about its launches.
struct OwnModel {
  static constexpr std::string_view kName = "own";
  static constexpr std::string_view kHelp = "A linear layer.";
  static void Describe(OptionTable<OwnModel>&) {}
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const {
    class Layer final : public Model {
     public:
      explicit Layer(int64_t inputs)
          : layer_(register_module("layer", torch::nn::Linear(inputs, 4))) {}
      at::Tensor Forward(const at::Tensor& batch) override { return layer_(batch.flatten(1)); }

     private:
      torch::nn::Linear layer_;
    };
    return std::make_shared<Layer>(input.num_values());
  }
};

TEST(Tuner, RecordsNoPassOfAModelThatDoesNotSayItsLaunchesAreAlike) {
  const SmallProblem problem;
  int replays = 0;
  const DeviceGraphMaker fake = [&](c10::Device) -> Result<std::unique_ptr<DeviceGraph>> {
    return std::make_unique<FakeGraph>(std::vector<at::Tensor>(), replays);
  };
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe,
                              ConvnetRecipe(problem, {"train.threads=1", "train.feed_threads=1"}));
  recipe.model = Configure(OwnModel{});
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, Tune(recipe, plan, torch::kCPU, fake));
  EXPECT_THAT(tuned.report.trials[1].verdict, testing::HasSubstr("LaunchesAlike"));
  EXPECT_EQ(replays, 0);
}

TEST(Tuner, DoesNotDisturbTheRandomState) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, ConvnetRecipe(problem, {}));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainingPlan plan, MakePlan(recipe));
  torch::manual_seed(9);
  const Json before = SaveRandomState(torch::kCPU);
  STOKER_ASSERT_OK(Tune(recipe, plan, torch::kCPU));
  EXPECT_EQ(SaveRandomState(torch::kCPU), before);
}

TEST(Tuner, ReportsABatchThatTheModelCannotLearnFrom) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, ConvnetRecipe(problem, {"train.sanity=false"}));
  recipe.model = Configure(Convnet{.classes = 2, .channels = {4}});
  EXPECT_THAT(TuneOnCpu(recipe), FailsWith(StatusCode::kDataLoss, "the model has 2 classes"));
}

}  // namespace stoker::step_tuner_test
