#include "stoker/train/tuner.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <algorithm>

#include "stoker/base/testing.h"
#include "stoker/base/worker_group.h"
#include "stoker/train/models/convnet.h"
#include "stoker/train/random_state.h"
#include "stoker/train/testing.h"

namespace stoker {
namespace {

Result<Recipe> ConvnetRecipe(const SmallProblem& problem, std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(), "model={convnet: {classes: 4, channels: [4]}}");
  return problem.Load(assignments);
}

TEST(Tuner, TimesBothLayoutsAndThreadCountsAndChoosesOne) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, ConvnetRecipe(problem, {"train.threads=auto"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, Tune(recipe, torch::kCPU));
  const auto& trials = tuned.report.trials;
  EXPECT_EQ(trials.size(), AvailableCpus() > 1 ? 4u : 2u);
  EXPECT_EQ(std::ranges::count_if(trials, &TuneTrial::chosen), 1);
  EXPECT_EQ(std::ranges::find_if(trials, &TuneTrial::chosen)->choices, tuned.choices);
  for (const TuneTrial& trial : trials) {
    EXPECT_GT(trial.step_ms, 0);
    EXPECT_GT(trial.steps, 0);
  }
  EXPECT_EQ(at::get_num_threads(), tuned.choices.threads);
  EXPECT_THAT(tuned.report.ToText(), testing::HasSubstr("channels_last"));
}

TEST(Tuner, TimesPrecisionsWhereTheyAreOpen) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                              ConvnetRecipe(problem, {"train.threads=1", "train.precision=auto",
                                                      "train.memory_format=contiguous"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, Tune(recipe, torch::kCPU));
  ASSERT_EQ(tuned.report.trials.size(), 2u);
  EXPECT_EQ(tuned.report.trials[0].choices.precision, Precision::kFloat32);
  EXPECT_EQ(tuned.report.trials[1].choices.precision, Precision::kBFloat16);
  EXPECT_THAT(tuned.report.ToText(), testing::HasSubstr("bf16"));
}

TEST(Tuner, LeavesWhatTheRecipeFixes) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Recipe recipe,
      ConvnetRecipe(problem, {"train.threads=1", "train.memory_format=channels_last"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, Tune(recipe, torch::kCPU));
  EXPECT_EQ(tuned.choices, (Choices{.memory_format = MemoryFormat::kChannelsLast, .threads = 1}));
  EXPECT_THAT(tuned.report.trials, testing::IsEmpty());
}

TEST(Tuner, DoesNotTimeLayoutsOfAModelWithoutImages) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const Tuned tuned, Tune(recipe, torch::kCPU));
  EXPECT_EQ(tuned.choices, (Choices{.memory_format = MemoryFormat::kContiguous, .threads = 1}));
  EXPECT_THAT(tuned.report.trials, testing::IsEmpty());
}

TEST(Tuner, DoesNotDisturbTheRandomState) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, ConvnetRecipe(problem, {}));
  torch::manual_seed(9);
  const Json before = SaveRandomState(torch::kCPU);
  STOKER_ASSERT_OK(Tune(recipe, torch::kCPU));
  EXPECT_EQ(SaveRandomState(torch::kCPU), before);
}

TEST(Tuner, ReportsABatchThatTheModelCannotLearnFrom) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, ConvnetRecipe(problem, {}));
  recipe.model = Configure(Convnet{.classes = 2, .channels = {4}});
  EXPECT_THAT(Tune(recipe, torch::kCPU),
              FailsWith(StatusCode::kDataLoss, "the model has 2 classes"));
}

}  // namespace
}  // namespace stoker
