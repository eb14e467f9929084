#include <algorithm>
#include <numeric>
#include <set>

#include "stoker/base/testing.h"
#include "stoker/data/ops/window_order_internal.h"

namespace stoker::window_order_test {

std::vector<int64_t> Order(int64_t n, int64_t window, int64_t page, uint64_t epoch = 0) {
  const SharedPermutations permutations(nullptr);
  WindowOrder order(permutations, n, window, page, /*seed=*/1, epoch, /*stage=*/2);
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < n; ++i) indices.push_back(order(i));
  return indices;
}

TEST(WindowOrder, IsAPermutationForEveryNWindowAndPage) {
  for (int64_t n = 0; n <= 40; ++n) {
    for (const int64_t window : {1, 2, 7, 8, 39, 1000}) {
      for (const int64_t page : {1, 2, 3, 7, 40, 1000}) {
        std::vector<int64_t> indices = Order(n, window, page), all(static_cast<size_t>(n));
        std::iota(all.begin(), all.end(), 0);
        std::ranges::sort(indices);
        ASSERT_EQ(indices, all) << n << " elements, window " << window << ", page " << page;
      }
    }
  }
}

TEST(WindowOrder, ReadsAWindowFromItsPagesAlone) {
  constexpr int64_t kWindow = 120, kPage = 10;
  const std::vector<int64_t> indices = Order(1003, kWindow, kPage);
  for (size_t begin = 0; begin < indices.size(); begin += kWindow) {
    std::set<int64_t> pages;
    for (size_t i = begin; i < std::min(begin + kWindow, indices.size()); ++i)
      pages.insert(indices[i] / kPage);
    EXPECT_LE(std::ssize(pages), kWindow / kPage + 2) << "window at " << begin;
  }
}

TEST(WindowOrder, OfAWindowOverAllIsRandomThroughout) {
  const std::vector<int64_t> indices = Order(1000, 1000, 1);
  int64_t rising = 0;
  for (size_t i = 1; i < indices.size(); ++i) rising += indices[i] > indices[i - 1];
  EXPECT_NEAR(static_cast<double>(rising), 500, 50);
}

TEST(WindowOrder, GivesEachEpochAndEachWindowAnOrderOfItsOwn) {
  EXPECT_NE(Order(100, 20, 5, 0), Order(100, 20, 5, 1));
  // With pages as large as a window, what is left is the order inside.
  const std::vector<int64_t> indices = Order(100, 10, 10);
  std::set<std::vector<int64_t>> inside;
  for (size_t begin = 0; begin < 100; begin += 10) {
    std::vector<int64_t> offsets;
    for (size_t i = begin; i < begin + 10; ++i) offsets.push_back(indices[i] % 10);
    inside.insert(offsets);
  }
  EXPECT_EQ(inside.size(), 10u);
}

TEST(WindowOrder, IsTheSameInWhateverOrderPositionsAreAskedFor) {
  const std::vector<int64_t> forward = Order(200, 30, 4);
  const SharedPermutations permutations(nullptr);
  WindowOrder order(permutations, 200, 30, 4, 1, 0, 2);
  for (int64_t i = 0; i < 200; ++i) {
    const int64_t position = i * 77 % 200;
    EXPECT_EQ(order(position), forward[static_cast<size_t>(position)]);
  }
}

TEST(WindowOrder, MapsManyPositionsAsItMapsEachWhereverTheyLie) {
  for (const int64_t window : {1, 30, 200, 1000}) {
    const std::vector<int64_t> forward = Order(200, window, std::min<int64_t>(window, 4));
    const SharedPermutations permutations(nullptr);
    WindowOrder order(permutations, 200, window, std::min<int64_t>(window, 4), 1, 0, 2);
    std::vector<int64_t> in_order(200), jumping(200);
    std::iota(in_order.begin(), in_order.end(), 0);
    for (size_t i = 0; i < 200; ++i) jumping[i] = static_cast<int64_t>(i * 77 % 200);
    order.Map(in_order);
    EXPECT_EQ(in_order, forward) << "window " << window;
    order.Map(jumping);
    for (size_t i = 0; i < 200; ++i) EXPECT_EQ(jumping[i], forward[i * 77 % 200]);
  }
}

// The order is part of the format of a run.
TEST(WindowOrder, IsGolden) {
  const std::vector<int64_t> indices = Order(20, 8, 3);
  EXPECT_THAT(indices, testing::ElementsAre(16, 0, 15, 1, 2, 10, 9, 17, 12, 4, 11, 14, 5, 3, 18, 13,
                                            8, 6, 19, 7));
}

}  // namespace stoker::window_order_test
