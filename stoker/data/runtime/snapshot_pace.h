// How often the state of a stream is kept for going back to.
#pragma once

#include <cstdint>

#include "stoker/data/core/iterator.h"

namespace stoker {

// The fewest elements between two states that are kept.
inline constexpr int64_t kSnapshotInterval = 64;

// A state may be large (a shuffle buffer's), so it is saved again only when saving it has cost less
// than a twentieth of the time since. Going back to it then makes again, at most, what was made in
// twenty times as long as saving took, or kSnapshotInterval elements.
//
// Which states are kept depends on time; what is read again from any of them does not. Used by one
// thread at a time.
class SnapshotPace {
 public:
  // One before every element, whatever it costs: for what cannot be made again in the same order.
  static SnapshotPace BeforeEach() { return SnapshotPace(1); }
  static SnapshotPace Sparing() { return SnapshotPace(kSnapshotInterval); }

  bool before_each() const { return interval_ == 1; }
  // Whether it is time to, `elements` after the last one that Save saved.
  bool IsDue(int64_t elements);
  // The state of `input`.
  Result<Json> Save(const Iterator& input);

 private:
  explicit SnapshotPace(int64_t interval) : interval_(interval), look_at_(interval) {}

  int64_t interval_;
  int64_t look_at_;  // elements after which the clock is read again
  int64_t saved_ns_ = 0;
  int64_t cost_ns_ = 0;
};

}  // namespace stoker
