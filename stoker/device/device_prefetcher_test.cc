#include "stoker/device/device_prefetcher.h"

#include <torch/utils.h>

#include <thread>

#include "stoker/base/testing.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/device/accelerator.h"

namespace stoker::device_prefetcher_test {

constexpr int64_t kBatches = 50;  // more than lie between two positions

// Samples whose one value is their number, in an order of the seed, by twos.
Dataset Numbers() {
  std::vector<float> values(2 * kBatches);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<uint8_t> labels(2 * kBatches, 0);
  return *(FromArrays({{"image", Array::Of<float>(values, {2 * kBatches, 1})},
                       {"label", Array::Of(labels)}}) |
           Shuffle{} | Batch{.size = 2});
}

// As Numbers, but the sample of this number cannot be made.
Dataset NumbersWithout(float number) {
  std::vector<float> values(2 * kBatches);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<uint8_t> labels(2 * kBatches, 0);
  return *(FromArrays({{"image", Array::Of<float>(values, {2 * kBatches, 1})},
                       {"label", Array::Of(labels)}}) |
           Map{.function = [number](Element& element, Rng&, Scratch&) -> Status {
             if (element.arrays[0].values<float>()[0] != number) return OkStatus();
             return DataLoss("sample {} is damaged", number);
           }} |
           Batch{.size = 2});
}

Result<std::unique_ptr<DevicePrefetcher>> Open(const Dataset& batches, int depth,
                                               c10::Device device = c10::kCPU) {
  return DevicePrefetcher::Open(batches, Runtime::Threaded(1), {.seed = 5}, {.device = device},
                                depth);
}

// What is left, as numbers.
std::vector<float> Rest(DevicePrefetcher& prefetcher) {
  std::vector<float> rest;
  while (true) {
    const auto batch = prefetcher.Next();
    EXPECT_THAT(batch, IsOk());
    if (!batch.ok() || !*batch) return rest;
    const at::Tensor values = (*batch)->input.only().cpu();
    for (int64_t i = 0; i < values.numel(); ++i) rest.push_back(values.data_ptr<float>()[i]);
  }
}

class DevicePrefetcherTest : public testing::TestWithParam<int> {};

TEST_P(DevicePrefetcherTest, GivesTheBatchesOfThePipelineAndThenTheEndForGood) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto plain, Open(Numbers(), 0));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto ahead, Open(Numbers(), GetParam()));
  EXPECT_EQ(Rest(*ahead), Rest(*plain));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto after, ahead->Next());
  EXPECT_FALSE(after.has_value());
}

TEST_P(DevicePrefetcherTest, ContinuesBehindTheBatchesHandedOutWhereverItWasSaved) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto plain, Open(Numbers(), 0));
  const std::vector<float> all = Rest(*plain);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto saved, Open(Numbers(), GetParam()));
  for (size_t given = 0; given <= kBatches; ++given) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, saved->Save());
    STOKER_ASSERT_OK_AND_ASSIGN(const auto restored, Open(Numbers(), GetParam()));
    STOKER_ASSERT_OK(restored->Restore(state));
    const std::vector<float> left(all.begin() + static_cast<std::ptrdiff_t>(2 * given), all.end());
    ASSERT_EQ(Rest(*restored), left) << "saved after batch " << given;
    STOKER_ASSERT_OK(saved->Next());
  }
}

TEST_P(DevicePrefetcherTest, SavedAgainAfterARestoreContinuesToo) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto plain, Open(Numbers(), 0));
  const std::vector<float> all = Rest(*plain);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, Open(Numbers(), GetParam()));
  for (int i = 0; i < 21; ++i) STOKER_ASSERT_OK(first->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json once, first->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto second, Open(Numbers(), GetParam()));
  STOKER_ASSERT_OK(second->Restore(once));
  for (int i = 0; i < 3; ++i) STOKER_ASSERT_OK(second->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json twice, second->Save());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto third, Open(Numbers(), GetParam()));
  STOKER_ASSERT_OK(third->Restore(twice));
  EXPECT_EQ(Rest(*third), std::vector<float>(all.begin() + 48, all.end()));
}

TEST_P(DevicePrefetcherTest, GivesTheErrorInItsPlaceAndAgain) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto ahead, Open(NumbersWithout(20), GetParam()));
  for (int i = 0; i < 10; ++i) STOKER_ASSERT_OK(ahead->Next());
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(ahead->Next(), FailsWith(StatusCode::kDataLoss, "sample 20 is damaged"));
  }
}

// The first 20 samples by twos; then whoever asks for more waits, and once it says so, `stop`
// becomes true meanwhile.
Dataset NumbersAndThenNone(const std::atomic<bool>& waits, std::atomic<bool>& stop) {
  constexpr int64_t kSamples = 20;
  std::vector<float> values(kSamples);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<uint8_t> labels(kSamples, 0);
  return *(FromArrays(
               {{"image", Array::Of<float>(values, {kSamples, 1})}, {"label", Array::Of(labels)}}) |
           Repeat{} |
           Filter{.predicate =
                      [&](const Element& element) {
                        if (waits) stop = true;
                        return element.key.epoch == 0;
                      }} |
           Batch{.size = 2});
}

TEST_P(DevicePrefetcherTest, AskedToStopInAWaitItEndsAndStillKnowsWhereItWasMarked) {
  std::atomic<bool> waits{false}, stop{false};
  const Dataset numbers = NumbersAndThenNone(waits, stop);
  Runtime runtime = Runtime::Threaded(1);
  runtime.stop = &stop;
  const auto open = [&] {
    return DevicePrefetcher::Open(numbers, runtime, {.seed = 5}, {.device = c10::kCPU}, GetParam());
  };
  for (int marked = 0; marked <= 10; ++marked) {
    waits = stop = false;
    STOKER_ASSERT_OK_AND_ASSIGN(auto stopped, open());
    stopped->Mark();
    for (int given = 0; given < 10; ++given) {
      STOKER_ASSERT_OK(stopped->Next());
      if (given + 1 == marked) stopped->Mark();
    }
    waits = true;
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(stopped->Next(), FailsWith(StatusCode::kCancelled, "asked to stop"));
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const Json state, stopped->SaveMarked());
    stopped.reset();  // its pipeline may be about to set `stop` once more
    waits = stop = false;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto restored, open());
    STOKER_ASSERT_OK(restored->Restore(state));
    for (int next = marked; next < 10; ++next) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, restored->Next());
      EXPECT_EQ(batch->input.only().const_data_ptr<float>()[0], 2 * next)
          << "marked after " << marked;
    }
  }
}

TEST_P(DevicePrefetcherTest, AfterAnErrorItStillKnowsWhereItWasMarked) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto broken, Open(NumbersWithout(80), GetParam()));
  broken->Mark();
  for (int given = 1; given <= 40; ++given) {
    STOKER_ASSERT_OK(broken->Next());
    if (given == 37) broken->Mark();
  }
  EXPECT_THAT(broken->Next(), FailsWith(StatusCode::kDataLoss, "sample 80 is damaged"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, broken->SaveMarked());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto restored, Open(NumbersWithout(-1), GetParam()));
  STOKER_ASSERT_OK(restored->Restore(state));
  EXPECT_EQ(Rest(*restored).front(), 74);
}

TEST_P(DevicePrefetcherTest, CanBeDestroyedAtAnyMoment) {
  for (int taken = 0; taken < 20; ++taken) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto ahead, Open(Numbers(), GetParam()));
    for (int i = 0; i < taken; ++i) STOKER_ASSERT_OK(ahead->Next());
  }
}

TEST_P(DevicePrefetcherTest, CopiesToAnAcceleratorOnAStreamOfItsOwnWhereThereIsOne) {
  const Result<OpenedDevice> opened = OpenDevice("cuda");
  if (!opened.ok()) GTEST_SKIP() << opened.status().message();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto plain, Open(Numbers(), 0));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto ahead, Open(Numbers(), GetParam(), opened->device));
  EXPECT_EQ(Rest(*ahead), Rest(*plain));
}

INSTANTIATE_TEST_SUITE_P(Depths, DevicePrefetcherTest, testing::Values(0, 1, 2, 7));

TEST(DevicePrefetcher, HasSoManyBatchesReadyAndNoMore) {
  std::atomic<int> made{0};
  const Dataset counted =
      *(Result<Dataset>(Numbers()) | Map{.function = [&](Element&, Rng&, Scratch&) -> Status {
          ++made;
          return OkStatus();
        }});
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto ahead,
      DevicePrefetcher::Open(counted, Runtime::Inline(), {}, {.device = c10::kCPU}, /*depth=*/3));
  STOKER_ASSERT_OK(ahead->Next());
  // One handed out and three ready: the thread goes on until then, and there it stays.
  while (made < 4) std::this_thread::yield();
  STOKER_ASSERT_OK(ahead->Next());
  while (made < 5) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, 5);
}

TEST(DevicePrefetcher, RefusesADepthThatNobodyCanWant) {
  EXPECT_THAT(Open(Numbers(), 65), FailsWith(StatusCode::kInvalidArgument, "must be 0 to 64"));
  EXPECT_THAT(Open(Numbers(), -1), FailsWith(StatusCode::kInvalidArgument, "must be 0 to 64"));
}

}  // namespace stoker::device_prefetcher_test
