#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "stoker/data/ops/kept_orders_internal.h"

namespace stoker {
namespace {

TEST(KeptOrders, OfEpochsThatInterleaveAreMadeOnce) {
  const KeptOrders<int> orders(/*order_bytes=*/1000);
  int made = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t epoch = 0; epoch < 1000; ++epoch) {
      const auto order = orders.Get({.epoch = epoch}, [&] {
        ++made;
        return std::make_shared<const int>(static_cast<int>(epoch));
      });
      ASSERT_EQ(*order, static_cast<int>(epoch));
    }
  }
  EXPECT_EQ(made, 1000);
}

TEST(KeptOrders, ThatWereNotUsedForLongestMakeRoom) {
  const KeptOrders<int> orders(/*order_bytes=*/1000, /*kept_bytes=*/4000);
  const auto get = [&](uint64_t epoch) {
    return orders.Get({.epoch = epoch}, [] { return std::make_shared<const int>(0); });
  };
  const std::weak_ptr<const int> first = get(0), second = get(1), third = get(2);
  get(0);
  get(3);  // in the place of the second
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
  EXPECT_FALSE(third.expired());
}

// Each of the two is finished once both are being made.
TEST(KeptOrders, AreMadeSideBySide) {
  const KeptOrders<int> orders(/*order_bytes=*/1000);
  std::latch both_begun(2);
  std::vector<std::jthread> readers;
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    readers.emplace_back([&, epoch] {
      orders.Get({.epoch = epoch}, [&] {
        both_begun.arrive_and_wait();
        return std::make_shared<const int>(0);
      });
    });
  }
}

TEST(KeptOrders, ThatSeveralThreadsWantAtOnceAreMadeOnce) {
  const KeptOrders<int> orders(/*order_bytes=*/1000);
  constexpr int kThreads = 4;
  std::atomic<int> made = 0;
  std::latch begin(kThreads);
  {
    std::vector<std::jthread> readers;
    for (int reader = 0; reader < kThreads; ++reader) {
      readers.emplace_back([&] {
        begin.arrive_and_wait();
        for (uint64_t epoch = 0; epoch < 100; ++epoch) {
          const auto order = orders.Get(
              {.epoch = epoch}, [&] { return std::make_shared<const int>(made.fetch_add(1)); });
          EXPECT_GE(*order, 0);
        }
      });
    }
  }
  EXPECT_EQ(made, 100);
}

}  // namespace
}  // namespace stoker
