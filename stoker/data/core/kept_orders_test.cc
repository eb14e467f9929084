#include "stoker/data/core/kept_orders.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace stoker::kept_orders_test {

constexpr int64_t kBytes = 1000;  // of an order

TEST(KeptOrders, OfEpochsThatInterleaveAreMadeOnce) {
  const KeptOrders<int> orders;
  int made = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t epoch = 0; epoch < 1000; ++epoch) {
      const auto order = orders.Get({.epoch = epoch}, kBytes, [&] {
        ++made;
        return std::make_shared<const int>(static_cast<int>(epoch));
      });
      ASSERT_EQ(*order, static_cast<int>(epoch));
    }
  }
  EXPECT_EQ(made, 1000);
}

TEST(KeptOrders, ThatWereNotUsedForLongestMakeRoom) {
  const KeptOrders<int> orders(/*kept_bytes=*/4000);
  const auto get = [&](uint64_t epoch) {
    return orders.Get({.epoch = epoch}, kBytes, [] { return std::make_shared<const int>(0); });
  };
  const std::weak_ptr<const int> first = get(0), second = get(1), third = get(2);
  get(0);
  get(3);  // in the place of the second
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
  EXPECT_FALSE(third.expired());
}

TEST(KeptOrders, AreCountedByTheBytesOfEach) {
  const KeptOrders<int> orders(/*kept_bytes=*/10'000);
  const auto get = [&](uint64_t epoch, int64_t bytes) {
    return orders.Get({.epoch = epoch}, bytes, [] { return std::make_shared<const int>(0); });
  };
  std::vector<std::weak_ptr<const int>> small;
  for (uint64_t epoch = 0; epoch < 10; ++epoch) small.push_back(get(epoch, 100));
  for (const auto& order : small) EXPECT_FALSE(order.expired());
  const std::weak_ptr<const int> large = get(10, 1'000'000);
  EXPECT_FALSE(large.expired());
  EXPECT_FALSE(small.back().expired());  // one beside it always stays
  EXPECT_TRUE(small.front().expired());
}

// Each of the two is finished once both are being made.
TEST(KeptOrders, AreMadeSideBySide) {
  const KeptOrders<int> orders;
  std::latch both_begun(2);
  std::vector<std::jthread> readers;
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    readers.emplace_back([&, epoch] {
      orders.Get({.epoch = epoch}, kBytes, [&] {
        both_begun.arrive_and_wait();
        return std::make_shared<const int>(0);
      });
    });
  }
}

TEST(KeptOrders, ThatSeveralThreadsWantAtOnceAreMadeOnce) {
  const KeptOrders<int> orders;
  constexpr int kThreads = 4;
  std::atomic<int> made = 0;
  std::latch begin(kThreads);
  {
    std::vector<std::jthread> readers;
    for (int reader = 0; reader < kThreads; ++reader) {
      readers.emplace_back([&] {
        begin.arrive_and_wait();
        for (uint64_t epoch = 0; epoch < 100; ++epoch) {
          const auto order = orders.Get({.epoch = epoch}, kBytes, [&] {
            return std::make_shared<const int>(made.fetch_add(1));
          });
          EXPECT_GE(*order, 0);
        }
      });
    }
  }
  EXPECT_EQ(made, 100);
}

}  // namespace stoker::kept_orders_test
