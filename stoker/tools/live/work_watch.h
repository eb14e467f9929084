// Writes on a board what a loop does that turns many times a second.
#pragma once

#include "stoker/base/clock.h"
#include "stoker/tools/live/live_board.h"

namespace stoker {

// One thread at a time.
class WorkWatch {
 public:
  // `board`: borrowed; null: nothing is written
  explicit WorkWatch(LiveBoard* board) : board_(board) {}

  // Changes the facts, unless it did so less than a quarter of a second ago. Costs a look at the
  // clock, and without a board nothing.
  template <typename Change>
  void Note(const Change& change) {
    constexpr double kEverySeconds = 0.25;
    if (board_ == nullptr || (any_ && since_.ElapsedSeconds() < kEverySeconds)) return;
    any_ = true;
    since_ = Stopwatch();
    board_->Update(change);
  }

 private:
  LiveBoard* const board_;
  Stopwatch since_;
  bool any_ = false;
};

}  // namespace stoker
