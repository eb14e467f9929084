#include "stoker/data/core/stage_time.h"

#include <algorithm>
#include <utility>

#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

// What a scope's time counts for. A scope inside one that is sampled or skipped is so too.
constexpr int kOnce = 0;  // for itself
constexpr int kSkipped = -1;

// Of this thread: its innermost scope, and what has happened in it so far.
thread_local StageStats* current_stage = nullptr;
thread_local int64_t nested_ns = 0;  // the time of nested scopes
thread_local int64_t waits_ns = 0;   // of it waiting, which always counts once
thread_local int current_weight = kOnce;

// How many brief scopes of this thread are skipped before the next that is timed. The number is
// drawn, since a fixed one would meet what happens every so many elements always or never.
thread_local int skips_left = 0;
thread_local uint32_t draws = 1;

int DrawSkips() {
  draws ^= draws << 13;  // xorshift32: G. Marsaglia, Xorshift RNGs, 2003
  draws ^= draws >> 17;
  draws ^= draws << 5;
  return static_cast<int>(draws % (2 * ScopedStageTime::kSampled - 1));
}

int WeightOf(const StageStats& stats, ScopedStageTime::Kind kind) {
  if (!stats.counts()) return kSkipped;
  if (kind != ScopedStageTime::Kind::kBusy) return kOnce;
  if (current_weight != kOnce) return current_weight;
  if (!stats.brief()) return kOnce;
  if (skips_left > 0) {
    --skips_left;
    return kSkipped;
  }
  skips_left = DrawSkips();
  return ScopedStageTime::kSampled;
}

TraceKind TraceKindOf(ScopedStageTime::Kind kind) {
  switch (kind) {
    case ScopedStageTime::Kind::kStarved: return TraceKind::kStarved;
    case ScopedStageTime::Kind::kBlocked: return TraceKind::kBlocked;
    case ScopedStageTime::Kind::kBusy: break;
  }
  return TraceKind::kWork;
}

}  // namespace

ScopedStageTime::ScopedStageTime(StageStats& stats, Kind kind)
    : stats_(stats),
      kind_(kind),
      outer_stage_(std::exchange(current_stage, &stats)),
      outer_nested_ns_(std::exchange(nested_ns, 0)),
      outer_waits_ns_(std::exchange(waits_ns, 0)),
      outer_weight_(current_weight),
      weight_(WeightOf(stats, kind)),
      start_ns_(weight_ == kSkipped ? 0 : NowNs()),
      span_(stats.trace_name(), TraceKindOf(kind), start_ns_) {
  current_weight = weight_;
}

ScopedStageTime::~ScopedStageTime() {
  int64_t passed_ns = waits_ns;  // what the enclosing scope must not count as its own
  int64_t passed_waits_ns = waits_ns;
  if (weight_ != kSkipped) {
    const int64_t end_ns = NowNs();
    span_.EndAt(end_ns, std::max(weight_, 1));
    const int64_t elapsed = end_ns - start_ns_;
    // Below zero where samples came to more than there was; SummedTime makes up for it.
    const int64_t own = elapsed - nested_ns;
    switch (kind_) {
      case Kind::kBusy:
        stats_.AddBusy(own * std::max(weight_, 1));
        stats_.SetBrief(elapsed < kBriefNs && stats_.elements() >= kTimedFirst);
        break;
      case Kind::kStarved: stats_.AddStarved(own); break;
      case Kind::kBlocked: stats_.AddBlocked(own); break;
    }
    passed_ns = elapsed;
    if (kind_ != Kind::kBusy) passed_waits_ns = elapsed;
    // The first of the scopes that are sampled stands for those that are skipped.
    if (weight_ > kOnce && outer_weight_ == kOnce)
      passed_ns = (elapsed - waits_ns) * weight_ + waits_ns;
  }
  nested_ns = outer_nested_ns_ + passed_ns;
  waits_ns = outer_waits_ns_ + passed_waits_ns;
  current_stage = outer_stage_;
  current_weight = outer_weight_;
}

ScopedInputWait::ScopedInputWait(Pass& pass)
    : pass_(pass),
      span_(current_stage == nullptr ? TraceName("the consumer") : current_stage->trace_name(),
            TraceKind::kStarved, start_ns_) {}

ScopedInputWait::~ScopedInputWait() {
  const int64_t end_ns = NowNs();
  span_.EndAt(end_ns);
  const int64_t elapsed = end_ns - start_ns_;
  nested_ns += elapsed;
  waits_ns += elapsed;
  if (current_stage != nullptr) {
    current_stage->AddStarved(elapsed);
  } else {
    pass_.AddConsumerWait(elapsed);
  }
}

}  // namespace stoker
