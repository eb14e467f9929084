// Scopes that say whose time a thread spends, for profiles and traces.
#pragma once

#include <cstdint>

#include "stoker/base/clock.h"
#include "stoker/base/profile.h"
#include "stoker/base/trace.h"

namespace stoker {

class Pass;

// Counts the time of its scope for a stage, without that of nested scopes on the same thread, so no
// time of a thread is counted twice. It is a span of a trace too (base/trace.h).
//
// Two readings of the clock take as long as some stages need for an element. Where work is brief
// (kBriefNs), about one scope in kSampled, drawn at random, is timed and counts for all, together
// with the scopes in it: enough for a share of time, and cheap enough to be always on, also while a
// trace is recorded, which has the scopes that are timed. Waiting is always timed.
//
// A scope belongs to the thread that made it, and scopes of one thread end in the reverse order of
// their beginnings.
class ScopedStageTime {
 public:
  enum class Kind { kBusy, kStarved, kBlocked };
  explicit ScopedStageTime(StageStats& stats, Kind kind = Kind::kBusy);
  ~ScopedStageTime();
  ScopedStageTime(const ScopedStageTime&) = delete;
  ScopedStageTime& operator=(const ScopedStageTime&) = delete;

  static constexpr int64_t kBriefNs = 10'000;
  static constexpr int kSampled = 8;
  // The first elements of a stage are timed one by one, so that a short pass has exact times.
  static constexpr int64_t kTimedFirst = 1024;

 private:
  StageStats& stats_;
  const Kind kind_;
  // How the enclosing scope stands, to which the thread returns.
  StageStats* const outer_stage_;
  const int64_t outer_nested_ns_, outer_waits_ns_;
  const int outer_weight_;

  const int weight_;
  const int64_t start_ns_;  // 0: not timed
  TraceSpan span_;
};

// A scope that waits for an element from other threads. Counts the time as starved for the
// enclosing stage on this thread, which pulls the element, or, without one, as waiting of the
// pass's consumer.
class ScopedInputWait {
 public:
  explicit ScopedInputWait(Pass& pass);
  ~ScopedInputWait();
  ScopedInputWait(const ScopedInputWait&) = delete;
  ScopedInputWait& operator=(const ScopedInputWait&) = delete;

 private:
  Pass& pass_;
  const int64_t start_ns_ = NowNs();
  TraceSpan span_;
};

}  // namespace stoker
