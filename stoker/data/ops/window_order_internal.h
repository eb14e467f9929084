// The order of a shuffle with a window: pages in random order, and an exact shuffle within the
// pages of each window.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "stoker/data/core/shared_permutations.h"

namespace stoker {

// A permutation of 0..n-1 in which the positions of window w, w * window .. (w + 1) * window - 1,
// come from window / page whole pages (and at most two parts of pages), each of `page` consecutive
// indices. So a reader uses at most that many pages at a time, and each of them only for a short
// while. A bijection for every n, window, page >= 1 and every key.
//
// The stage's SharedPermutations supply the permutations of the pages and within each window. Made
// for each read: cheap if its positions lie in few windows. Not thread-safe.
//
// Like base/permutation.h, the order is part of the format of a run (golden values in
// window_order_test.cc).
class WindowOrder {
 public:
  // `permutations` must outlive it.
  WindowOrder(const SharedPermutations& permutations, int64_t n, int64_t window, int64_t page,
              uint64_t seed, uint64_t epoch, uint64_t stage);

  // Returns the index at position i of the order; 0 <= i < n.
  int64_t operator()(int64_t i);

  // Does the same for each of `positions`, in place: about 4 ns each if they ascend.
  void Map(std::span<int64_t> positions);

 private:
  void EnterWindow(int64_t window);
  // Returns index i of the pages concatenated in their random order.
  int64_t InPages(int64_t i);
  // Returns (*pages_)(page), memoised because positions of a window need it repeatedly.
  int64_t PageAt(int64_t page);

  const int64_t n_, window_, page_;
  const uint64_t seed_, epoch_, stage_;
  const SharedPermutations& permutations_;
  const std::shared_ptr<const IndexPermutation> pages_;
  int64_t last_page_size_;
  int64_t behind_last_page_;  // end of the last page, which may be short, in the new order
  int64_t current_window_ = -1;
  std::shared_ptr<const IndexPermutation> within_;
  // By page, as far as there is room: the page and its origin.
  struct Known {
    int64_t page = -1, from = 0;
  };
  std::array<Known, 64> known_;
};

}  // namespace stoker
