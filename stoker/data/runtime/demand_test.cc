// Threads follow demand while a pass runs. What is waited for comes sooner or later on any machine;
// only its absence takes the whole time.
#include <atomic>
#include <functional>
#include <thread>

#include "stoker/base/worker_group.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/window.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::demand_test {

constexpr double kPatience = 60;  // seconds

Map Sleeping(int milliseconds) {
  return {.function = [=](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return OkStatus();
  }};
}

// The value that the last decision of this kind has set.
int64_t Last(const Iterator& iterator, std::string_view what) {
  int64_t last = 0;
  for (const Decision& decision : iterator.decisions().decisions()) {
    if (decision.what == what) last = decision.to;
  }
  return last;
}

TEST(Demand, AddsThreadsBeyondTheCpusWhereElementsSleep) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(100) | Sleeping(5) | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded()));
  const Stopwatch watch;
  while (iterator->GetProfile().threads <= 2 * AvailableCpus()) {
    STOKER_ASSERT_OK(iterator->Next());
    ASSERT_LT(watch.ElapsedSeconds(), kPatience) << "no threads were added";
  }
}

TEST(Demand, InputsThatWorkAtTheSameTimeDivideTheCpus) {
  if (AvailableCpus() < 2) GTEST_SKIP() << "one CPU cannot be divided";
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset one, StreamedImages(100) | Sleeping(0));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset alone, Result(one) | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset beside,
                              Source(Zip{.inputs = {one, one}, .prefix = {"a_", "b_"}}));
  for (const auto& [dataset, threads] : {std::pair(alone, 2), std::pair(beside, 1)}) {
    const PipelineCpuScope two(2);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded()));
    STOKER_ASSERT_OK(iterator->Next());
    std::vector<int64_t> begun_with;
    for (const Decision& decision : iterator->decisions().decisions()) {
      if (decision.what == "threads" && decision.from == 0) begun_with.push_back(decision.to);
    }
    EXPECT_THAT(begun_with, testing::Not(testing::IsEmpty()));
    EXPECT_THAT(begun_with, testing::Each(threads));
  }
}

TEST(Demand, GivesThreadsBackWhereTheConsumerIsSlow) {
  const int64_t before = ThreadsBefore();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(100) | Sleeping(5) | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded()));
  const Stopwatch watch;
  while (iterator->GetProfile().threads < 4) {
    STOKER_ASSERT_OK(iterator->Next());
    ASSERT_LT(watch.ElapsedSeconds(), kPatience) << "no threads were added";
  }
  while (Last(*iterator, "threads") != 1 || ThreadsOfProcess() > before + 1) {
    STOKER_ASSERT_OK(iterator->Next());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_LT(watch.ElapsedSeconds(), 2 * kPatience)
        << Last(*iterator, "threads") << " threads are still there";
  }
}

TEST(Demand, GivesThreadsBackWhereTheConsumerTakesNothingAtAll) {
  if (AvailableCpus() < 2) GTEST_SKIP() << "there is one thread from the start";
  const int64_t before = ThreadsBefore();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(100) | Sleeping(1) | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded()));
  for (int i = 0; i < 50; ++i) STOKER_ASSERT_OK(iterator->Next());
  const Stopwatch watch;
  while (ThreadsOfProcess() > before + 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_LT(watch.ElapsedSeconds(), kPatience);
  }
  for (int i = 0; i < 50; ++i) STOKER_ASSERT_OK(iterator->Next());  // and it still runs
}

TEST(Demand, ObeysTheNumberOfThreadsThatWasAskedFor) {
  const int64_t before = ThreadsBefore();
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(100) | Sleeping(1) | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(3)));
  for (int i = 0; i < 1000; ++i) {
    STOKER_ASSERT_OK(iterator->Next());
    ASSERT_LE(ThreadsOfProcess(), before + 3);
  }
  EXPECT_EQ(ThreadsOfProcess(), before + 3);
  EXPECT_EQ(iterator->GetProfile().threads, 3);
}

using Group = std::function<Result<Dataset>(Result<Dataset>)>;

// The stream gives all elements of 4,001 batches of four at once, and goes on only when the
// consumer has had these batches.
void ExpectFinishedBatchesAreHandedOut(const Group& group) {
  constexpr int64_t kBatches = 4001, kSize = 4;
  std::atomic<bool> had_all = false, gave_up = false;
  const Dataset source = NumberedImages(kBatches * kSize + kSize);
  const Dataset stream = FromGenerator(source.spec(), [&](uint64_t) {
    std::shared_ptr<Iterator> elements = *source.Open(Runtime::Inline());
    return [&, elements, given = int64_t{0}]() mutable {
      const Stopwatch watch;
      while (given == kBatches * kSize && !had_all && !gave_up) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        gave_up = watch.ElapsedSeconds() > kPatience;
      }
      ++given;
      return elements->Next();
    };
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              group(Result(stream)) | Sleeping(0) | Prefetch{});
  SCOPED_TRACE(dataset.ToString());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  for (int64_t i = 0; i < kBatches; ++i) STOKER_ASSERT_OK(iterator->Next());
  had_all = true;
  EXPECT_FALSE(gave_up) << "finished batches were held back";
  STOKER_ASSERT_OK_AND_ASSIGN(const auto rest, ReadAll(*iterator));
  EXPECT_EQ(rest.size(), 1u);
}

TEST(Demand, AMapHandsOutTheBatchesThatAreFinishedWhileTheNextDoesNotCome) {
  ExpectFinishedBatchesAreHandedOut(
      [](Result<Dataset> stream) { return std::move(stream) | Batch{.size = 4}; });
  ExpectFinishedBatchesAreHandedOut([](Result<Dataset> stream) {
    return std::move(stream) | Batch{.size = 4} | IgnoreErrors{.share = 1};
  });
  ExpectFinishedBatchesAreHandedOut(
      [](Result<Dataset> stream) { return std::move(stream) | Window{.size = 4}; });
}

TEST(Demand, AMapHandsOutTheFinishedBatchesThatHaveMoreFieldsThanTheirElements) {
  ExpectFinishedBatchesAreHandedOut([](Result<Dataset> stream) {
    return std::move(stream) | PaddedBatch{.size = 4, .fields = {"image"}, .lengths = true};
  });
  ExpectFinishedBatchesAreHandedOut([](Result<Dataset> stream) {
    return std::move(stream) | BucketByLength{.field = "image",
                                              .boundaries = {100},
                                              .sizes = {4},
                                              .fields = {"image"},
                                              .mask = true};
  });
}

TEST(Demand, MakesOneChunkOfManyTinyElementsAndSaysSo) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              NumberedImages(100'000) | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(1)));
  const Stopwatch watch;
  while (Last(*iterator, "chunk") < 16) {
    for (int i = 0; i < 1000; ++i) STOKER_ASSERT_OK(iterator->Next());
    ASSERT_LT(watch.ElapsedSeconds(), kPatience);
  }
  EXPECT_THAT(iterator->decisions().decisions().back().ToString(), testing::HasSubstr("prefetch"));
}

}  // namespace stoker::demand_test
