// How often the state of a stream is saved for reading again from there.
#pragma once

#include <cstdint>

#include "stoker/data/core/iterator.h"

namespace stoker {

// The fewest elements between two saved states.
inline constexpr int64_t kSnapshotInterval = 64;

// A state may be large (a shuffle buffer's), so it is saved again only when saving it cost less
// than a twentieth of the time since. Restoring it then repeats at most the work of twenty times
// the duration of a save, or kSnapshotInterval elements.
//
// Which states are saved depends on time; the elements read again from any of them do not. Used by
// one thread at a time.
class SnapshotPace {
 public:
  // Returns the pace of one state before every element, for elements that cannot be made again in
  // the same order.
  static SnapshotPace BeforeEach() { return SnapshotPace(1); }
  static SnapshotPace Sparing() { return SnapshotPace(kSnapshotInterval); }

  bool before_each() const { return interval_ == 1; }
  // Returns whether a save is due, `elements` after the last one.
  bool IsDue(int64_t elements);
  // Saves and returns the state of `input`.
  Result<Json> Save(const Iterator& input);

 private:
  explicit SnapshotPace(int64_t interval) : interval_(interval), look_at_(interval) {}

  int64_t interval_;
  int64_t look_at_;  // elements after which the clock is read again
  int64_t saved_ns_ = 0;
  int64_t cost_ns_ = 0;
};

}  // namespace stoker
