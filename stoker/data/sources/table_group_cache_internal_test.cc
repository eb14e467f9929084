#include "stoker/data/sources/table_group_cache_internal.h"

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <vector>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"

namespace stoker::table_group_cache_internal_test {

TableGroupCache::Group GroupOf(uint64_t bytes) {
  auto group = std::make_shared<DecodedGroup>();
  group->bytes = bytes;
  return group;
}

TableGroupCache::Wanted Numbered(int64_t number, uint64_t held = 10) {
  return {.number = number, .name = "x", .held = held, .meanwhile = 5};
}

Status NoMore(uint64_t /*limit*/) { return ResourceExhausted("no more"); }

TEST(TableGroupCache, DecodesAGroupOnceForAllThreadsThatWantIt) {
  TableGroupCache cache(/*most_kept=*/100);
  cache.SetLimit(1000);
  std::atomic<int> decoded = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int64_t number = 0; number < 5; ++number) {
        const auto use = cache.Get(
            Numbered(number),
            [&](uint64_t) {
              ++decoded;
              return GroupOf(10);
            },
            NoMore);
        EXPECT_TRUE(use.ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(decoded, 5);
}

TEST(TableGroupCache, DecodingThatThrowsIsAnErrorAndKeepsNoOtherThreadWaiting) {
  TableGroupCache cache(/*most_kept=*/100);
  cache.SetLimit(1000);
  std::atomic<bool> decoding = false, waits = false;
  std::thread other([&] {
    while (!decoding) std::this_thread::yield();
    waits = true;
    const auto use = cache.Get(
        Numbered(0), [](uint64_t) { return GroupOf(10); }, NoMore);
    EXPECT_TRUE(use.ok()) << use.status().ToString();
  });
  const auto thrown = cache.Get(
      Numbered(0),
      [&](uint64_t) -> Result<TableGroupCache::Group> {
        decoding = true;
        while (!waits) std::this_thread::yield();
        throw std::system_error(EIO, std::generic_category());
      },
      NoMore);
  EXPECT_THAT(thrown.status(), FailsWith(StatusCode::kUnavailable, "x threw: "));
  other.join();
}

TEST(TableGroupCache, HoldsNoMoreThanItsLimitHoweverManyThreadsUseIt) {
  TableGroupCache cache(/*most_kept=*/1000);
  cache.SetLimit(40);
  std::atomic<int> decoding = 0, most = 0;
  std::vector<std::thread> threads;
  for (int64_t first = 0; first < 8; ++first) {
    threads.emplace_back([&, first] {
      for (int64_t number = first * 50; number < first * 50 + 50; ++number) {
        const auto use = cache.Get(
            Numbered(number),
            [&](uint64_t) {
              int now = ++decoding;
              for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
              }
              std::this_thread::yield();
              --decoding;
              return GroupOf(10);
            },
            NoMore);
        EXPECT_TRUE(use.ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);  // of 15 bytes each, beside what others use
}

TEST(TableGroupCache, AGroupThatTakesMoreThanWasThoughtIsDecodedAgainWithAllThereIs) {
  TableGroupCache cache(/*most_kept=*/1000);
  cache.SetLimit(100);
  std::vector<uint64_t> asked;
  const auto use = cache.Get(
      Numbered(0),
      [&](uint64_t most) -> Result<TableGroupCache::Group> {
        asked.push_back(most);
        if (most < 90) return ResourceExhausted("more");
        return GroupOf(90);
      },
      NoMore);
  EXPECT_TRUE(use.ok());
  EXPECT_EQ(asked, (std::vector<uint64_t>{15, 100}));
}

TEST(TableGroupCache, AGroupThatTakesMoreThanTheLimitIsDecodedWithALimitThatIsRaised) {
  TableGroupCache cache(/*most_kept=*/1000);
  cache.SetLimit(30);
  std::vector<uint64_t> asked;
  const auto decode = [&](uint64_t most) -> Result<TableGroupCache::Group> {
    asked.push_back(most);
    if (most < 100) return ResourceExhausted("more");
    return GroupOf(90);
  };
  const auto raise = [&](uint64_t limit) {
    cache.SetLimit(2 * limit);
    return OkStatus();
  };
  EXPECT_TRUE(cache.Get(Numbered(0), decode, raise).ok());
  EXPECT_EQ(asked, (std::vector<uint64_t>{15, 30, 60, 120}));
  // Another group is given as much at first as the one before was found to need.
  EXPECT_TRUE(cache.Get(Numbered(1), decode, raise).ok());
  EXPECT_EQ(asked.back(), 120u);
  EXPECT_EQ(asked.size(), 5u);
  EXPECT_THAT(
      cache
          .Get(
              Numbered(2, 500),
              [](uint64_t) -> Result<TableGroupCache::Group> { return ResourceExhausted("more"); },
              NoMore)
          .status(),
      FailsWith(StatusCode::kResourceExhausted, "no more"));
}

TEST(TableGroupCache, ADamagedGroupIsNotDecodedAgainForEachOfItsRows) {
  TableGroupCache cache(/*most_kept=*/1000);
  cache.SetLimit(100);
  int decoded = 0;
  const auto decode = [&](uint64_t) -> Result<TableGroupCache::Group> {
    ++decoded;
    return DataLoss("damaged");
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(cache.Get(Numbered(0), decode, NoMore).status(),
                FailsWith(StatusCode::kDataLoss, "damaged"));
  EXPECT_EQ(decoded, 1);
  cache.ForgetFailures();
  EXPECT_FALSE(cache.Get(Numbered(0), decode, NoMore).ok());
  EXPECT_EQ(decoded, 2);
}

TEST(TableGroupCache, AThreadThatWaitsForRoomEndsWhenItIsAskedToStop) {
  TableGroupCache cache(/*most_kept=*/1000);
  cache.SetLimit(20);
  const auto decode = [](uint64_t) { return GroupOf(15); };
  const auto held = cache.Get(Numbered(0, 15), decode, NoMore);
  ASSERT_TRUE(held.ok());
  std::thread other([&] {
    const StopScope stop([] { return true; });
    EXPECT_THAT(cache.Get(Numbered(1, 15), decode, NoMore).status(),
                FailsWith(StatusCode::kCancelled, "asked to stop"));
  });
  other.join();
}

}  // namespace stoker::table_group_cache_internal_test
