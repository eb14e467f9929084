#include "stoker/data/runtime/snapshot_pace.h"

#include "stoker/base/clock.h"
#include "stoker/data/runtime/crew.h"

namespace stoker {
namespace {

constexpr int64_t kTimesItsCost = 20;

}  // namespace

bool SnapshotPace::IsDue(int64_t elements) {
  if (elements < look_at_) return false;
  look_at_ = elements + interval_;
  return before_each() || NowNs() - saved_ns_ >= kTimesItsCost * cost_ns_;
}

// Its cost is CPU time: a thread that is interrupted while it saves has not made it dearer.
Result<Json> SnapshotPace::Save(const Iterator& input) {
  const int64_t began = before_each() ? 0 : ThreadCpuNs();
  Result<Json> state = input.Save();
  look_at_ = interval_;
  if (before_each()) return state;
  cost_ns_ = ThreadCpuNs() - began;
  saved_ns_ = NowNs();
  return state;
}

}  // namespace stoker
