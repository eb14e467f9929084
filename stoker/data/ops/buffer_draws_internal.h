// The draws of a shuffle buffer, and the content that follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stoker {

// A buffer of `size` slots is filled with the first elements of its input. Draw d outputs the
// element of one slot; the next element of the input replaces it. Once the input has ended, the
// element of the last slot replaces it, and the buffer has one slot less. The slot is filled at the
// next draw, so that an element does not wait for the following one.
//
// Each draw is a function of (seed, epoch, d, stage), so the number of draws determines which
// elements the buffer holds, and in which slots: neither is saved.
class BufferDraws {
 public:
  BufferDraws(int64_t size, uint64_t seed, uint64_t epoch, uint64_t stage)
      : size_(size), seed_(seed), epoch_(epoch), stage_(stage) {}

  // The progress of input and buffer after `draws` draws.
  struct Progress {
    int64_t draws = 0;
    int64_t pulled = 0;  // elements of the input
    bool ended = false;  // the input has no more elements
  };
  struct Contents {
    // For each slot, the number of its element in the input; for the empty slot, of its last
    // element.
    std::vector<int64_t> elements;
    std::optional<size_t> empty_slot;
  };

  // Returns false if no buffer of this size can have this progress.
  bool IsPossible(const Progress& progress) const;
  // Returns the content. REQUIRES: IsPossible(progress). Costs about size x ln(size) draws of 15
  // ns, at any place of the pass.
  Contents ContentsAfter(const Progress& progress) const;

  // Returns the slot of draw number `draw` among `held` filled ones.
  size_t Slot(int64_t draw, int64_t held) const;

 private:
  // Returns the number of draws after which an element of the input filled the slot.
  int64_t Refills(const Progress& progress) const;

  int64_t size_;
  uint64_t seed_, epoch_, stage_;
};

}  // namespace stoker
