#include <numeric>
#include <set>

#include "stoker/base/testing.h"
#include "stoker/data/ops/buffer_draws_internal.h"

namespace stoker::buffer_draws_test {

// The buffer itself, one element after the other: what ContentsAfter finds without it.
class SimulatedBuffer {
 public:
  SimulatedBuffer(const BufferDraws& draws, int64_t size, int64_t elements)
      : draws_(draws), size_(size), left_(elements) {}

  // The element drawn, or -1.
  int64_t Next() {
    if (empty_slot_) FillEmptySlot();
    while (!progress_.ended && std::ssize(slots_) < size_) Pull();
    if (slots_.empty()) return -1;
    empty_slot_ = draws_.Slot(progress_.draws++, std::ssize(slots_));
    return slots_[*empty_slot_];
  }

  const BufferDraws::Progress& progress() const { return progress_; }
  const std::vector<int64_t>& slots() const { return slots_; }
  const std::optional<size_t>& empty_slot() const { return empty_slot_; }

 private:
  void Pull() {
    progress_.ended = left_ == 0;
    if (progress_.ended) return;
    --left_;
    slots_.push_back(progress_.pulled++);
  }
  void FillEmptySlot() {
    const size_t before = slots_.size();
    if (!progress_.ended) Pull();
    slots_[*empty_slot_] = slots_.back();
    if (slots_.size() == before) slots_.pop_back();
    if (slots_.size() > before) slots_.pop_back();
    empty_slot_.reset();
  }

  const BufferDraws draws_;
  const int64_t size_;
  int64_t left_;
  BufferDraws::Progress progress_;
  std::vector<int64_t> slots_;
  std::optional<size_t> empty_slot_;
};

TEST(BufferDraws, SayWhatTheBufferHoldsAtEveryMomentOfAPass) {
  for (const int64_t size : {1, 2, 3, 10, 64}) {
    for (const int64_t elements : {0, 1, 2, 9, 10, 11, 200}) {
      const BufferDraws draws(size, /*seed=*/7, /*epoch=*/1, /*stage=*/2);
      SimulatedBuffer buffer(draws, size, elements);
      for (bool more = true; more;) {
        more = buffer.Next() != -1;
        if (!more) break;  // the end leaves an empty buffer, which needs no contents
        ASSERT_TRUE(draws.IsPossible(buffer.progress()));
        const BufferDraws::Contents contents = draws.ContentsAfter(buffer.progress());
        ASSERT_EQ(contents.elements, buffer.slots())
            << "buffer " << size << ", " << elements << " elements, " << buffer.progress().draws
            << " draws";
        ASSERT_EQ(contents.empty_slot, buffer.empty_slot());
      }
    }
  }
}

TEST(BufferDraws, HandOutEveryElementOnce) {
  const BufferDraws draws(10, 1, 2, 3);
  SimulatedBuffer buffer(draws, 10, 1000);
  std::set<int64_t> seen;
  for (int64_t element = buffer.Next(); element != -1; element = buffer.Next()) {
    EXPECT_TRUE(seen.insert(element).second);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(BufferDraws, KnowWhatCannotBe) {
  const BufferDraws draws(10, 1, 2, 3);
  using Progress = BufferDraws::Progress;
  EXPECT_TRUE(draws.IsPossible({.draws = 0, .pulled = 0}));
  EXPECT_TRUE(draws.IsPossible({.draws = 1, .pulled = 10}));
  EXPECT_TRUE(draws.IsPossible({.draws = 0, .pulled = 0, .ended = true}));
  EXPECT_TRUE(draws.IsPossible({.draws = 12, .pulled = 12, .ended = true}));
  const Progress impossible[] = {{.draws = 0, .pulled = 10},
                                 {.draws = 1, .pulled = 11},
                                 {.draws = 2, .pulled = 10},
                                 {.draws = 2, .pulled = 12, .ended = true},
                                 {.draws = 13, .pulled = 12, .ended = true},
                                 {.draws = 0, .pulled = 3, .ended = true}};
  for (const Progress& progress : impossible) {
    EXPECT_FALSE(draws.IsPossible(progress)) << progress.draws << ", " << progress.pulled;
  }
}

// The order is part of the format of a run: a saved pass must go on as it began.
TEST(BufferDraws, AreGolden) {
  const BufferDraws draws(100'000, /*seed=*/1, /*epoch=*/2, /*stage=*/3);
  std::vector<size_t> slots;
  for (int64_t draw = 0; draw < 6; ++draw) slots.push_back(draws.Slot(draw, 100'000));
  EXPECT_THAT(slots, testing::ElementsAre(65568, 28614, 54037, 58791, 97497, 96648));
}

}  // namespace stoker::buffer_draws_test
