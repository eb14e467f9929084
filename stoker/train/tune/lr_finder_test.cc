#include "stoker/train/tune/lr_finder.h"

#include <ATen/Context.h>

#include <filesystem>

#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/run/testing.h"

namespace stoker::lr_finder_test {

Result<LrSearch> Find(const SmallProblem& problem, const std::vector<std::string>& set,
                      const LrRangeOptions& options = {}) {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe, problem.Load(set));
  return FindLr(recipe, options, nullptr);
}

TEST(LrFinder, SuggestsRatesAtWhichTheProblemIsLearned) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const LrSearch search, Find(problem, {}));
  ASSERT_TRUE(search.suggestions);
  for (const double rate : {search.suggestions->valley, search.suggestions->steepest,
                            search.suggestions->minimum_tenth}) {
    EXPECT_GT(rate, 1e-5);
    EXPECT_LT(rate, 1);
  }
  EXPECT_EQ(search.key, "train.schedule.one_cycle.max_lr");
  EXPECT_EQ(search.lr_scale, 1);
  EXPECT_EQ(search.curve.lr[50], 1e-3);
}

TEST(LrFinder, GivesTheSameCurveAgainAndWritesNothing) {
  const SmallProblem problem;
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(problem / ""), {});
  };
  const auto before = files();
  STOKER_ASSERT_OK_AND_ASSIGN(const LrSearch first, Find(problem, {}, {.steps = 30}));
  STOKER_ASSERT_OK_AND_ASSIGN(const LrSearch second, Find(problem, {}, {.steps = 30}));
  EXPECT_EQ(first.curve.raw, second.curve.raw);
  EXPECT_EQ(files(), before);
}

TEST(LrFinder, LeavesOtherPipelinesTheirCpus) {
  const SmallProblem problem;
  const PipelineCpuScope three(3);
  STOKER_ASSERT_OK(Find(problem, {}, {.steps = 20}));
  EXPECT_EQ(PipelineCpuLimit(), 3);
}

TEST(LrFinder, StopsWhereTheLossDiverges) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const LrSearch search,
      Find(problem, {"train.optimizer={sgd: {momentum: 0.9}}"}, {.low = 1e-3, .high = 1e6}));
  EXPECT_TRUE(search.diverged);
  EXPECT_LT(search.curve.lr.size(), 100u);
}

TEST(LrFinder, ComputesAsARunOfTheRecipeWould) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const LrSearch narrow,
                              Find(problem, {"train.precision=bf16"}, {.steps = 20}));
  EXPECT_EQ(narrow.choices.precision, Precision::kBFloat16);
  STOKER_ASSERT_OK_AND_ASSIGN(const LrSearch wide, Find(problem, {}, {.steps = 20}));
  EXPECT_EQ(wide.choices.precision, Precision::kFloat32);
  EXPECT_NE(narrow.curve.raw, wide.curve.raw);
  for (const char* const tf32 : {"false", "true"}) {
    STOKER_ASSERT_OK(Find(problem, {std::string("train.tf32=") + tf32}, {.steps = 20}));
    EXPECT_EQ(at::globalContext().allowTF32CuDNN(), std::string_view(tf32) == "true");
  }
}

TEST(LrFinder, EndsWhereItIsToldTo) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load());
  const auto search = FindLr(recipe, {}, [](int64_t step, double) { return step < 7; });
  STOKER_ASSERT_OK(search);
  EXPECT_EQ(search->curve.lr.size(), 7u);
}

TEST(LrFinder, KnowsTheKeyAndTheScaleOfTheRecipesRate) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const LrSearch search,
      Find(problem,
           {"train.schedule={cosine: {lr: 0.1}}", "train.lr_scaling={rule: linear, base_batch: 8}",
            "train.accumulate=2"},
           {.steps = 20}));
  EXPECT_EQ(search.key, "train.schedule.cosine.lr");
  EXPECT_EQ(search.lr_scale, 4);  // 2 batches of 16
}

TEST(LrFinder, SaysThatTheRateIsNotToBlameWhereTheFirstLossIsBroken) {
  const SmallProblem problem;
  EXPECT_THAT(Find(problem, {"data.train.normalize={mean: 0, std: 1e-300}"}),
              FailsWith(StatusCode::kInvalidArgument, "normalize"));
  EXPECT_THAT(Find(problem, {}, {.low = 1, .high = 0.5}),
              FailsWith(StatusCode::kInvalidArgument, "begin above 0"));
}

}  // namespace stoker::lr_finder_test
