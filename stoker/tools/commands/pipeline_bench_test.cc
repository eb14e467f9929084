#include "stoker/tools/commands/pipeline_bench.h"

#include <chrono>
#include <thread>

#include "stoker/base/testing.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/options/registry.h"

namespace stoker::pipeline_bench_test {

Result<Dataset> Numbers(int64_t n) {
  return FromArrays({{"x", Array::Of(std::vector<int64_t>(static_cast<size_t>(n)))}});
}

Element ElementOf(Shape shape) {
  return {.key = {}, .arrays = {Array::Allocate(DType::kUInt8, std::move(shape))}};
}

TEST(SamplesIn, MultipliesTheDimensionsThatBatchStagesAdded) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset plain, Numbers(8));
  EXPECT_EQ(SamplesIn(plain, ElementOf({3, 28, 28})), 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batched,
                              Numbers(8) | Batch{.size = 2} | Take{.count = 4});
  EXPECT_EQ(SamplesIn(batched, ElementOf({2, 28, 28})), 2);
  EXPECT_EQ(SamplesIn(batched, ElementOf({1, 28, 28})), 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset twice, Result<Dataset>(batched) | Batch{.size = 2});
  EXPECT_EQ(SamplesIn(twice, ElementOf({2, 2, 28, 28})), 4);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset padded, Numbers(8) | PaddedBatch{.size = 4});
  EXPECT_EQ(SamplesIn(padded, ElementOf({4, 28, 28})), 4);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset apart, Result<Dataset>(batched) | Unbatch{});
  EXPECT_EQ(SamplesIn(apart, ElementOf({28, 28})), 1);
}

TEST(SamplesIn, AreThoseOfTheOffsetsOfARaggedBatch) {
  const Map words{.function = [](Element&, Rng&, Scratch&) { return OkStatus(); },
                  .output = {{{"words", DType::kInt64, {kUnknownDim}}}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset ragged,
                              Numbers(8) | words | Batch{.size = 3, .ragged = true});
  const Element batch{
      .key = {},
      .arrays = {Array::Allocate(DType::kInt64, {11}), Array::Allocate(DType::kInt64, {4})}};
  EXPECT_EQ(SamplesIn(ragged, batch), 3);
}

class MeasurePipelineTest : public testing::TestWithParam<Runtime> {};

TEST_P(MeasurePipelineTest, CountsSamplesOverManyEpochs) {
  // 5 elements in batches of 2: batches of 2, 2 and 1, so an average of 5/3 samples a batch.
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(5) | Batch{.size = 2});
  STOKER_ASSERT_OK_AND_ASSIGN(const PipelineMeasurement measured,
                              MeasurePipeline(dataset, GetParam(), {.epochs = 4}));
  EXPECT_EQ(measured.batches, 4 * 3 - 1);  // the first is not counted
  EXPECT_EQ(measured.samples, 4 * 5 - 2);
  EXPECT_DOUBLE_EQ(measured.samples_per_s,
                   static_cast<double>(measured.samples) / measured.seconds);
  EXPECT_LE(measured.slice_min, measured.slice_median);
  EXPECT_LE(measured.slice_median, measured.slice_max);
  EXPECT_GT(measured.peak_rss_mb, 0);
  ASSERT_FALSE(measured.profile.stages.empty());
  EXPECT_EQ(measured.profile.stages.front().name, "arrays");
}

// What was made during a wait comes at once after it.
TEST_P(MeasurePipelineTest, NoSliceIsShorterThanHalfASecondThoughBatchesComeInBursts) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset numbers, Numbers(40));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Result<Dataset>(numbers) | Map{.function = [](Element& element, Rng&, Scratch&) -> Status {
        if (element.key.index == 20) std::this_thread::sleep_for(std::chrono::seconds(2));
        return OkStatus();
      }} | Batch{.size = 1});
  STOKER_ASSERT_OK_AND_ASSIGN(const PipelineMeasurement measured,
                              MeasurePipeline(dataset, GetParam(), {.epochs = 1}));
  EXPECT_LE(measured.slice_max, static_cast<double>(measured.samples) / 0.5);
  EXPECT_GE(measured.slice_max, measured.slice_min);
}

TEST_P(MeasurePipelineTest, GoesOnForTheTimeAskedForAndABatchAtLeast) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(5) | Batch{.size = 2});
  for (const double seconds : {1e-9, 0.05}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const PipelineMeasurement measured,
                                MeasurePipeline(dataset, GetParam(), {.seconds = seconds}));
    EXPECT_GE(measured.seconds, seconds);
    // Each three batches in a row hold 5 samples.
    EXPECT_GE(measured.batches, 1);
    EXPECT_GE(measured.samples, measured.batches / 3 * 5);
    EXPECT_LE(measured.samples, (measured.batches / 3 + 1) * 5);
  }
}

TEST_P(MeasurePipelineTest, EpochsWithNothingBehindTheirFirstBatchOrWithoutAnEndAreErrors) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset one, Numbers(5) | Batch{.size = 8});
  EXPECT_THAT(MeasurePipeline(one, GetParam(), {.epochs = 1}),
              FailsWith(StatusCode::kFailedPrecondition, "one batch in all"));
  STOKER_ASSERT_OK(MeasurePipeline(one, GetParam(), {.epochs = 2}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset endless, Result<Dataset>(one) | Repeat{});
  EXPECT_THAT(MeasurePipeline(endless, GetParam(), {.epochs = 1}),
              FailsWith(StatusCode::kInvalidArgument, "do not end; measure for a time"));
}

TEST_P(MeasurePipelineTest, TheRateOverAllLiesBetweenThoseOfItsSlices) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers(50) | Batch{.size = 2});
  for (const double seconds : {0.6, 0.9}) {  // the rest is part of the slice, or one of its own
    STOKER_ASSERT_OK_AND_ASSIGN(const PipelineMeasurement measured,
                                MeasurePipeline(dataset, GetParam(), {.seconds = seconds}));
    const double rounding = 1e-9 * measured.samples_per_s;
    EXPECT_LE(measured.slice_min, measured.samples_per_s + rounding) << seconds;
    EXPECT_GE(measured.slice_max, measured.samples_per_s - rounding) << seconds;
  }
}

TEST_P(MeasurePipelineTest, APipelineThatGivesNothingIsAnError) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Numbers(5) | Batch{.size = 8, .drop_remainder = true});
  for (const BenchLength& length : {BenchLength{.seconds = 0.05}, BenchLength{.epochs = 3}}) {
    EXPECT_THAT(MeasurePipeline(dataset, GetParam(), length),
                FailsWith(StatusCode::kFailedPrecondition, "gives no batch"));
  }
}

INSTANTIATE_TEST_SUITE_P(Runtimes, MeasurePipelineTest,
                         testing::Values(Runtime::Inline(), Runtime::Threaded(2)),
                         [](const auto& test) {
                           return test.param.kind == Runtime::Kind::kInline ? "Inline" : "Threaded";
                         });

}  // namespace stoker::pipeline_bench_test
