// What a pass counts of its stages' elements and time.
#include <thread>

#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/test_stages.h"

namespace stoker::stage_times_test {

TEST(Profile, CountsEveryElementOfEveryStageAndSplitsTheTime) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(100) | Shuffle{} | AddNoise() |
                                                         Batch{.size = 10} | Prefetch{});
  for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> iterator, dataset.Open(runtime));
    STOKER_ASSERT_OK(ReadAll(*iterator));
    const Profile profile = iterator->GetProfile();
    std::vector<std::pair<std::string, int64_t>> counted;
    double busy = 0;
    for (const StageProfile& stage : profile.stages) {
      counted.emplace_back(stage.name, stage.elements);
      busy += stage.busy_s;
    }
    EXPECT_THAT(counted,
                testing::ElementsAre(testing::Pair("arrays", 100), testing::Pair("shuffle", 100),
                                     testing::Pair("map", 100), testing::Pair("batch", 10),
                                     testing::Pair("prefetch", 10)));
    EXPECT_GT(busy, 0);
    EXPECT_LE(busy, profile.wall_s * profile.threads);
  }
}

TEST(Profile, CountsNoMomentOfAThreadTwice) {
  const auto slowly = [](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return OkStatus();
  };
  const Result<Dataset> datasets[] = {
      NumberedImages(40) | Map{.function = slowly} | Prefetch{},
      StreamedImages(40) | Map{.function = slowly} | Prefetch{},
      StreamedImages(40) | Map{.function = slowly} | Batch{.size = 4} | Prefetch{},
      LargeStream(20, /*slow_epoch=*/0) | Map{.function = slowly},
  };
  for (const Result<Dataset>& dataset : datasets) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(1), Runtime::Threaded(3)}) {
      for (const int consumer_ms : {0, 2}) {
        SCOPED_TRACE(testing::Message() << dataset->ToString() << runtime.threads << " threads, "
                                        << consumer_ms << " ms");
        STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime));
        while (true) {
          STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, iterator->Next());
          if (!element) break;
          std::this_thread::sleep_for(std::chrono::milliseconds(consumer_ms));
        }
        const Profile profile = iterator->GetProfile();
        for (const StageProfile& stage : profile.stages) {
          EXPECT_LE(stage.busy_s + stage.starved_s + stage.blocked_s,
                    profile.wall_s * profile.threads)
              << stage.name << ": busy " << stage.busy_s << ", starved " << stage.starved_s
              << ", blocked " << stage.blocked_s << " of " << profile.wall_s;
        }
        EXPECT_LE(profile.consumer_waited_s, profile.wall_s);
      }
    }
  }
}

TEST(Profile, CallsWorkersBlockedThatQueueBehindOneThatIs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              LargeStream(2000, /*slow_epoch=*/1) | DoNothing());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(4)));
  // On a busy machine, it takes them a while to get ahead of the consumer.
  StageProfile map;
  for (int i = 0; i < 1900 && map.blocked_s <= 3 * map.starved_s; ++i) {
    STOKER_ASSERT_OK(iterator->Next());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    map = iterator->GetProfile().stages.back();
  }
  EXPECT_GT(map.blocked_s, 3 * map.starved_s);
}

TEST(Profile, SaysThatTheConsumerWaitedWhereThePipelineIsSlow) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              LargeStream(20, /*slow_epoch=*/0) | DoNothing());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(2)));
  STOKER_ASSERT_OK(ReadAll(*iterator));
  Profile profile = iterator->GetProfile();
  EXPECT_GT(profile.consumer_waited_s, 0.1);  // of 0.2
  // So did the workers, for the generator; each counts it when its wait ends.
  while (profile.stages.back().starved_s <= 0.1) profile = iterator->GetProfile();
  EXPECT_GT(profile.stages.front().busy_s, 0.19);
}

}  // namespace stoker::stage_times_test
