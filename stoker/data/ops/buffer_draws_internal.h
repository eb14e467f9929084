// What a shuffle buffer draws, and what it therefore holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stoker {

// A buffer of `size` slots is filled with the first elements of its input. Draw d hands out the
// element of one slot; the next element of the input takes its place. Once the input has ended, the
// element of the last slot does, and there is a slot less. The place is taken when the draw after
// it is made, so that an element is not held up by the one behind it.
//
// Each draw is a function of (seed, epoch, d, stage), so how many draws there have been says which
// elements the buffer holds, and where: nothing of it needs to be saved.
class BufferDraws {
 public:
  BufferDraws(int64_t size, uint64_t seed, uint64_t epoch, uint64_t stage)
      : size_(size), seed_(seed), epoch_(epoch), stage_(stage) {}

  // Where the input and the buffer stand after `draws` draws.
  struct Progress {
    int64_t draws = 0;
    int64_t pulled = 0;  // elements of the input
    bool ended = false;  // the input has been found to have no more than these
  };
  struct Contents {
    // Of each slot, the number of its element in the input; of the empty slot, of the one that was.
    std::vector<int64_t> elements;
    std::optional<size_t> empty_slot;
  };

  // False where no buffer of this size can ever stand so.
  bool IsPossible(const Progress& progress) const;
  // For a possible progress. About size x ln(size) draws of 15 ns, however far the pass is.
  Contents ContentsAfter(const Progress& progress) const;

  // The slot of draw number `draw` among `held` filled ones.
  size_t Slot(int64_t draw, int64_t held) const;

 private:
  // The draws after which an element of the input took the free place.
  int64_t Refills(const Progress& progress) const;

  int64_t size_;
  uint64_t seed_, epoch_, stage_;
};

}  // namespace stoker
