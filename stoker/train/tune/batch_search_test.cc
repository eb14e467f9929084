#include "stoker/train/tune/batch_search.h"

#include <algorithm>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::batch_search_test {

using testing::ElementsAre;

// The sizes tried where all up to `limit` fit.
std::vector<int64_t> Tried(BatchSearch& search, int64_t limit) {
  std::vector<int64_t> tried;
  while (const auto next = search.Next()) {
    tried.push_back(*next);
    search.Report(*next <= limit);
  }
  return tried;
}

TEST(BatchSearch, DoublesThenHalvesTheInterval) {
  BatchSearch search;
  EXPECT_THAT(Tried(search, 21), ElementsAre(2, 4, 8, 16, 32, 24, 20, 22, 21));
  EXPECT_EQ(search.largest(), 21);
}

TEST(BatchSearch, FindsEveryLimitToOnePartInThirtyTwo) {
  for (int64_t limit = 0; limit < 8192; ++limit) {
    BatchSearch search;
    const size_t trials = Tried(search, limit).size();
    ASSERT_LE(search.largest(), limit);
    ASSERT_GE(search.largest() + std::max<int64_t>(1, search.largest() / 32), limit + 1);
    ASSERT_LE(trials, 18u);
  }
}

TEST(BatchSearch, DoesNotTrySizesThatDifferByLess) {
  BatchSearch search;
  EXPECT_THAT(Tried(search, 4444), ElementsAre(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                               8192, 6144, 5120, 4608, 4352, 4480));
  EXPECT_EQ(search.largest(), 4352);
}

TEST(BatchSearch, StopsAtTheCapAndAtTheMostTrials) {
  BatchSearch capped(/*cap=*/100);
  EXPECT_THAT(Tried(capped, 1 << 20), ElementsAre(2, 4, 8, 16, 32, 64, 100));
  EXPECT_EQ(capped.largest(), 100);
  BatchSearch few(8192, /*trials=*/3);
  EXPECT_EQ(Tried(few, 1 << 20).size(), 3u);
  EXPECT_EQ(few.largest(), 8);
}

std::vector<BatchTrial> Trials() {
  return {{.batch = 8, .fits = true, .images_per_s = 50, .step_ms = 1, .peak_bytes = 200},
          {.batch = 32, .fits = true, .images_per_s = 100, .step_ms = 1, .peak_bytes = 500},
          {.batch = 16, .fits = true, .images_per_s = 96, .step_ms = 1, .peak_bytes = 300},
          {.batch = 64, .fits = false, .reason = "no", .images_per_s = 999}};
}

TEST(SmallestNearPeak, IsTheSmallestThatFitsWithTheShareOfTheHighestThroughput) {
  EXPECT_EQ(SmallestNearPeak(Trials())->batch, 16);
  EXPECT_EQ(SmallestNearPeak(Trials(), 0.97)->batch, 32);
  EXPECT_EQ(SmallestNearPeak(Trials(), 0.5)->batch, 8);
  EXPECT_FALSE(SmallestNearPeak({}));
}

TEST(PredictedBytes, LieOnTheLineThroughTheTwoLargestThatFit) {
  EXPECT_EQ(PredictedBytes(Trials(), 64), 500 + 32 * 200 / 16);
  EXPECT_FALSE(PredictedBytes(std::vector<BatchTrial>{Trials()[0]}, 64));
  // Memory that does not grow is not predicted to shrink.
  std::vector<BatchTrial> level = Trials();
  level[1].peak_bytes = 250;
  EXPECT_EQ(PredictedBytes(level, 64), 250u);
}

}  // namespace stoker::batch_search_test
