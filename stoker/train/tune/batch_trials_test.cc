#include "stoker/train/tune/batch_trials.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "stoker/base/config.h"
#include "stoker/run/testing.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/tune/batch_finder.h"

namespace stoker::batch_trials_test {

constexpr uint64_t kMegabyte = 1'000'000;

Result<std::unique_ptr<BatchTrials>> TrialsOf(const SmallProblem& problem, TrialOptions options,
                                              const std::vector<std::string>& set = {}) {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe, problem.Load(set));
  STOKER_ASSIGN_OR_RETURN(const FinderPlace place, PlaceFor(recipe.train.options));
  STOKER_ASSIGN_OR_RETURN(TensorBatch samples,
                          FirstBatchOf(recipe, place.placement, BatchChecks()));
  return BatchTrials::Create(recipe, {.channels = 1, .height = 8, .width = 8}, place.placement,
                             std::move(samples), options);
}

TEST(MemoryMeter, CountsWhatTensorsHaveAtOnceToTheByte) {
  const MemoryMeter meter(c10::kCPU);
  MemoryMeter inner(c10::kCPU);
  at::Tensor kept = at::zeros({1000}, at::kFloat);
  { const at::Tensor gone = at::zeros({500}, at::kFloat); }
  EXPECT_EQ(inner.peak(), 6000u);
  inner.Reset();
  EXPECT_EQ(inner.peak(), 4000u);
  kept = at::Tensor();
  EXPECT_EQ(inner.peak(), 4000u);
}

TEST(MemoryMeter, SeesTheBackwardPassToo) {
  const MemoryMeter meter(c10::kCPU);
  at::Tensor x = at::ones({1000}, at::kFloat).requires_grad_();
  const uint64_t before = meter.peak();
  x.mul(2).sum().backward();
  EXPECT_GE(meter.peak(), before + 8000);
  EXPECT_EQ(x.grad().numel(), 1000);
}

TEST(BatchTrials, MeasureMemoryThatGrowsWithTheBatch) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "the figures are those of torch's allocator on the CPU";
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trials,
                              TrialsOf(problem, {.memory_bytes = 100 * kMegabyte, .seconds = 0}));
  STOKER_ASSERT_OK_AND_ASSIGN(const BatchTrial small, trials->Try(100));
  STOKER_ASSERT_OK_AND_ASSIGN(const BatchTrial large, trials->Try(1100));
  EXPECT_TRUE(small.fits && large.fits);
  EXPECT_GT(small.images_per_s, 0);
  // At least the batch itself: 64 floats and a class number for each of 1000 samples more.
  EXPECT_GT(large.peak_bytes, small.peak_bytes + 1000 * (64 * 4 + 8));
  EXPECT_LT(large.peak_bytes, 10 * kMegabyte);
}

TEST(BatchTrials, GoOnAfterASizeThatDoesNotFit) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "the figures are those of torch's allocator on the CPU";
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trials,
                              TrialsOf(problem, {.memory_bytes = kMegabyte, .seconds = 0}));
  STOKER_ASSERT_OK_AND_ASSIGN(const BatchTrial none, trials->Try(100'000));
  EXPECT_FALSE(none.fits);
  EXPECT_THAT(none.reason, testing::StartsWith("needs "));
  STOKER_ASSERT_OK_AND_ASSIGN(const BatchTrial again, trials->Try(8));
  EXPECT_TRUE(again.fits);
}

TEST(BatchTrials, OneSampleThatBatchNormCannotBeTrainedOnIsAnAnswer) {
  // resnet18 makes one place of 32 x 32.
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode model, ParseYaml("model: resnet18", "test"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto configured, ParseModelSection(model));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ModelBench bench,
      BenchModel(
          configured,
          {.input = {.channels = 3, .height = 32, .width = 32}, .sizes = {1, 2}, .seconds = 0}));
  ASSERT_EQ(bench.trials.size(), 2u);
  EXPECT_FALSE(bench.trials[0].fits);
  EXPECT_THAT(bench.trials[0].reason, "batch norm needs more than one value a channel");
  EXPECT_TRUE(bench.trials[1].fits);
}

TEST(BatchTrials, SearchEndsAtTheLargestBatchWithinTheLimit) {
  if (!TestsOnTheCpu()) GTEST_SKIP() << "the figures are those of torch's allocator on the CPU";
  const SmallProblem problem;
  const TrialOptions options{.memory_bytes = kMegabyte, .seconds = 0};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trials, TrialsOf(problem, options));
  BatchSearch search;
  STOKER_ASSERT_OK(SearchBatches(*trials, search, nullptr));
  EXPECT_GT(search.largest(), 100);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto fresh, TrialsOf(problem, options));
  EXPECT_TRUE(fresh->Try(search.largest())->fits);
  EXPECT_FALSE(fresh->Try(search.largest() + search.largest() / 32)->fits);
}

TEST(BatchTrials, NeedLessWithoutTraining) {
  const SmallProblem problem;
  TrialOptions options{.memory_bytes = 100 * kMegabyte, .seconds = 0};
  uint64_t peaks[2] = {};
  for (const bool forward_only : {false, true}) {
    options.forward_only = forward_only;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto trials, TrialsOf(problem, options));
    STOKER_ASSERT_OK_AND_ASSIGN(const BatchTrial trial, trials->Try(512));
    peaks[forward_only ? 1 : 0] = trial.peak_bytes;
  }
  EXPECT_LT(peaks[1], peaks[0]);
}

TEST(BatchTrials, ReportWhatIsWrongWithTheRecipeAndNotASize) {
  if (!TestsOnTheCpu())
    GTEST_SKIP() << "a class that does not exist ends the use of an accelerator";
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trials,
                              TrialsOf(problem, {.memory_bytes = kMegabyte, .seconds = 0},
                                       {"model.mlp.classes=2", "data.classes=[]"}));
  EXPECT_THAT(trials->Try(8), FailsWith(StatusCode::kDataLoss, "class number 2"));
}

TEST(Repeated, TakesTheSamplesInTheirOrderAgainAndAgain) {
  const TensorBatch batch{at::ones({2, 1, 1, 1}), at::zeros({2}, at::kLong)};
  batch.target.only()[1] = 7;
  const TensorBatch five = Repeated(batch, 5);
  EXPECT_EQ(five.size(), 5);
  EXPECT_EQ(five.target.only()[3].item<int64_t>(), 7);
  EXPECT_EQ(five.target.only()[4].item<int64_t>(), 0);
}

}  // namespace stoker::batch_trials_test
