#include "stoker/data/ops/window_order_internal.h"

#include <algorithm>

#include "stoker/base/random.h"

namespace stoker {

WindowOrder::WindowOrder(const SharedPermutations& permutations, int64_t n, int64_t window,
                         int64_t page, uint64_t seed, uint64_t epoch, uint64_t stage)
    : n_(n),
      window_(window),
      page_(page),
      seed_(seed),
      epoch_(epoch),
      stage_(stage),
      permutations_(permutations),
      pages_(permutations.Get(n / page + (n % page != 0 ? 1 : 0), seed, epoch, stage)) {
  last_page_size_ = n % page == 0 ? page : n % page;
  behind_last_page_ =
      pages_->size() == 0 ? 0 : pages_->Inverse(pages_->size() - 1) * page + last_page_size_;
}

void WindowOrder::EnterWindow(int64_t window) {
  if (window == current_window_) return;
  // Each window has an order of its own, keyed by its number.
  const uint64_t seed = Rng(seed_, epoch_, static_cast<uint64_t>(window), stage_).NextU64();
  within_ = permutations_.Get(std::min(window_, n_ - window * window_), seed, epoch_, stage_);
  current_window_ = window;
}

int64_t WindowOrder::operator()(int64_t i) {
  const int64_t window = i / window_;
  const int64_t begin = window * window_;
  EnterWindow(window);
  return InPages(begin + (*within_)(i - begin));
}

void WindowOrder::Map(std::span<int64_t> positions) {
  while (!positions.empty()) {
    const int64_t window = positions.front() / window_;
    const int64_t begin = window * window_;
    EnterWindow(window);
    const auto elsewhere = std::ranges::find_if(positions, [&](int64_t position) {
      return position < begin || position - begin >= window_;
    });
    const std::span<int64_t> here(positions.begin(), elsewhere);
    for (int64_t& position : here) position -= begin;
    within_->Map(here);
    for (int64_t& position : here) position = InPages(begin + position);
    positions = positions.subspan(here.size());
  }
}

int64_t WindowOrder::PageAt(int64_t page) {
  Known& known = known_[static_cast<size_t>(page) % known_.size()];
  if (known.page != page) known = {page, (*pages_)(page)};
  return known.from;
}

int64_t WindowOrder::InPages(int64_t i) {
  // What follows the short page is shifted towards the front by the elements that page lacks.
  if (i >= behind_last_page_) i += page_ - last_page_size_;
  return PageAt(i / page_) * page_ + i % page_;
}

}  // namespace stoker
