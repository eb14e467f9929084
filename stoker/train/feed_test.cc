#include "stoker/train/feed.h"

#include <c10/core/Device.h>

#include <chrono>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/registry.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/testing.h"

namespace stoker {
namespace {

constexpr double kPatience = 60;  // seconds; only a feed that adds no threads takes so long

class Feed : public testing::Test {
 protected:
  ~Feed() override { LimitPipelineCpus(0); }
};

TEST_F(Feed, KeepsAQuarterOfTheCpusBusyAtMostWhereTheStepComputesOnThemToo) {
  const TrainOptions options;
  EXPECT_EQ(FeedRuntime(options, c10::kCPU).threads, 0) << "as many as pay";
  EXPECT_EQ(PipelineCpuLimit(), std::max(1, AvailableCpus() / 4));
  EXPECT_EQ(FeedRuntime(options, c10::kCUDA).threads, 0);
  EXPECT_EQ(PipelineCpuLimit(), AvailableCpus());
  EXPECT_EQ(FeedRuntime(options, c10::kCPU, /*chosen=*/3).threads, 0);
  EXPECT_EQ(PipelineCpuLimit(), 3);
}

TEST_F(Feed, HasTheThreadsThatTheRecipeNames) {
  TrainOptions options;
  options.feed_threads = 5;
  EXPECT_EQ(FeedRuntime(options, c10::kCPU, /*chosen=*/3).threads, 5);
}

// Whatever they wait for: a disk, a server.
TEST_F(Feed, AddsThreadsForSamplesThatWaitWithoutTakingCpusFromTheStep) {
  const Map waiting{.function = [](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches,
                              NumberedImages(100) | waiting | Batch{.size = 4} | Repeat{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator,
                              batches.Open(FeedRuntime(TrainOptions(), c10::kCPU)));
  const Stopwatch watch;
  while (iterator->GetProfile().threads < 2 * AvailableCpus() + 2) {
    STOKER_ASSERT_OK(iterator->Next());
    ASSERT_LT(watch.ElapsedSeconds(), kPatience) << "no threads were added";
  }
}

}  // namespace
}  // namespace stoker
