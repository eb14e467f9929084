#include "stoker/train/plan/feed.h"

#include <c10/core/Device.h>

#include <chrono>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/testing/testing.h"

namespace stoker::feed_test {

constexpr double kPatience = 60;  // seconds; only a feed that adds no threads takes so long
constexpr int kMostThreads = 64;  // of a stage whose threads follow demand

TEST(Feed, KeepsAQuarterOfTheCpusBusyAtMostWhereTheStepComputesOnThemToo) {
  const TrainOptions options;
  EXPECT_EQ(FeedRuntime(options).threads, 0) << "as many as pay";
  EXPECT_EQ(FeedCpus(options, c10::kCPU), std::max(1, AvailableCpus() / 4));
  EXPECT_EQ(FeedCpus(options, c10::kCUDA), AvailableCpus());
  EXPECT_EQ(FeedCpus(options, c10::kCPU, /*chosen=*/3), 3);
  EXPECT_EQ(PipelineCpuLimit(), 0) << "asking limits nothing";
}

TEST(Feed, HasTheThreadsThatTheRecipeNames) {
  TrainOptions options;
  options.feed_threads = 5;
  EXPECT_EQ(FeedRuntime(options).threads, 5);
  EXPECT_EQ(FeedCpus(options, c10::kCPU, /*chosen=*/3), 0);
}

// Whatever they wait for: a disk, a server.
TEST(Feed, AddsThreadsForSamplesThatWaitWithoutTakingCpusFromTheStep) {
  const Map waiting{.function = [](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return OkStatus();
  }};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batches,
                              NumberedImages(100) | waiting | Batch{.size = 4} | Repeat{});
  const PipelineCpuScope cpus(FeedCpus(TrainOptions(), c10::kCPU));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, batches.Open(FeedRuntime(TrainOptions())));
  const int wanted = std::min(2 * AvailableCpus() + 2, kMostThreads);
  const Stopwatch watch;
  while (iterator->GetProfile().threads < wanted) {
    STOKER_ASSERT_OK(iterator->Next());
    ASSERT_LT(watch.ElapsedSeconds(), kPatience) << "no threads were added";
  }
}

}  // namespace stoker::feed_test
