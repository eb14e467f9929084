// Runs the same small piece of work again and again on some threads, to find its rate.
#pragma once

#include <cstdint>
#include <functional>

#include "stoker/base/status.h"

namespace stoker {

// One piece of work; returns how many units it did, or 0 if there is no more to do.
using WorkPiece = std::function<Result<int64_t>()>;
// Prepares the work of one thread (0, 1, ...), on that thread: its memory is then near to it.
using MakeWorkPiece = std::function<Result<WorkPiece>(int worker)>;

struct WorkRate {
  double per_second = 0;  // units, of all threads together
  int64_t units = 0;
  double seconds = 0;  // of the thread that took longest
};

// Prepares the work of all threads, lets them begin together, and ends each after the piece during
// which `seconds` have passed. A piece should take milliseconds. The rate is the sum of those of
// the threads.
// Errors: those of the work; kCancelled if the calling thread was asked to stop (StopScope), which
// is heeded between pieces; those of starting threads.
Result<WorkRate> MeasureRate(double seconds, int threads, const MakeWorkPiece& make);

}  // namespace stoker
