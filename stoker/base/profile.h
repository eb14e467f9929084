// The counters of a pass, stage by stage, which `stoker bench` prints and the advice about a
// pipeline is computed from.
//
// Running stages write to StageStats; Profile is a snapshot to read, print and store.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/trace.h"

namespace stoker {

// A sum of times that never sinks, since those who watch a process take differences of it. What is
// taken from it, as samples that came to too much are, later additions pay for. Thread-safe.
class SummedTime {
 public:
  void Add(int64_t ns) {
    if (ns < 0) {
      owed_ns_.fetch_sub(ns, std::memory_order_relaxed);
    } else {
      sum_ns_.fetch_add(ns - PaidOf(ns), std::memory_order_relaxed);
    }
  }
  int64_t ns() const { return sum_ns_.load(std::memory_order_relaxed); }

 private:
  // Returns how much of `ns` pays for what is owed.
  int64_t PaidOf(int64_t ns) {
    if (owed_ns_.load(std::memory_order_relaxed) == 0) return 0;
    const int64_t owed = owed_ns_.exchange(0, std::memory_order_relaxed);
    if (owed > ns) owed_ns_.fetch_add(owed - ns, std::memory_order_relaxed);
    return std::min(owed, ns);
  }

  std::atomic<int64_t> sum_ns_{0}, owed_ns_{0};
};

// Counters of one stage, written by many threads without a lock. A stage's time has three kinds,
// summed over its threads. A moment of a thread counts once, so their sum is at most wall time x
// threads, but for chance where brief work is timed by samples (data/core/stage_time.h):
//   busy     doing its own work (the time spent in its inputs is theirs)
//   starved  waiting for an input
//   blocked  waiting for its consumer to take an element, or for memory
class StageStats {
 public:
  // The operators of one name share the name of their spans.
  //   counts  false: elements and times stay 0, which is for measuring what counting costs
  explicit StageStats(std::string name, bool counts = true)
      : name_(std::move(name)), trace_name_(TraceName::Intern(name_)), counts_(counts) {}

  const std::string& name() const { return name_; }
  TraceName trace_name() const { return trace_name_; }
  bool counts() const { return counts_; }

  void AddElements(int64_t elements, int64_t bytes) {
    if (!counts_) return;
    elements_.fetch_add(elements, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void AddBusy(int64_t ns) {
    if (counts_) busy_.Add(ns);
  }
  void AddStarved(int64_t ns) {
    if (counts_) starved_.Add(ns);
  }
  void AddBlocked(int64_t ns) {
    if (counts_) blocked_.Add(ns);
  }
  int64_t elements() const { return elements_.load(std::memory_order_relaxed); }
  // Whether the stage's last piece of work that was timed was brief.
  bool brief() const { return brief_.load(std::memory_order_relaxed); }
  void SetBrief(bool brief) {
    if (brief != this->brief()) brief_.store(brief, std::memory_order_relaxed);
  }
  void AddError() { errors_.fetch_add(1, std::memory_order_relaxed); }
  // Counts elements that failed, here or earlier, and that this stage dropped or replaced.
  void AddSkipped(int64_t elements) { skipped_.fetch_add(elements, std::memory_order_relaxed); }
  void AddReplaced(int64_t elements) { replaced_.fetch_add(elements, std::memory_order_relaxed); }
  // Records one observation of a queue that holds `depth` of at most `capacity` chunks, each of one
  // element or many.
  void SampleQueue(int64_t depth, int64_t capacity) {
    queue_samples_.fetch_add(1, std::memory_order_relaxed);
    queue_depth_sum_.fetch_add(depth, std::memory_order_relaxed);
    queue_capacity_.store(capacity, std::memory_order_relaxed);
  }

 private:
  friend struct StageProfile;
  const std::string name_;
  const TraceName trace_name_;
  const bool counts_;
  std::atomic<int64_t> elements_{0}, bytes_{0}, errors_{0}, skipped_{0}, replaced_{0};
  SummedTime busy_, starved_, blocked_;
  std::atomic<bool> brief_{false};
  std::atomic<int64_t> queue_samples_{0}, queue_depth_sum_{0}, queue_capacity_{0};
};

// A snapshot of one StageStats.
struct StageProfile {
  std::string name;
  int64_t elements = 0;
  int64_t bytes = 0;
  double busy_s = 0;
  double starved_s = 0;
  double blocked_s = 0;
  int64_t errors = 0;
  int64_t skipped = 0;   // elements that failed, here or earlier, and that this stage dropped
  int64_t replaced = 0;  // likewise, but that this stage replaced
  double mean_queue_depth = 0;    // in chunks
  int64_t queue_capacity = 0;     // in chunks; 0: the stage has no queue
  int64_t peak_memory_bytes = 0;  // the most that was charged to the stage

  static StageProfile Of(const StageStats& stats);
};

struct Profile {
  std::string host = {};  // the machine's name
  int64_t rank = 0;       // of the process, where several share a pass
  double wall_s = 0;
  int threads = 0;
  double consumer_waited_s = 0;      // the consumer of the pass, waiting for an element
  int64_t peak_memory_bytes = 0;     // the most that was charged to all stages together
  std::vector<StageProfile> stages;  // source first

  Json ToJson() const;  // docs/profiles.md has the schema
  // Returns a table, one line a stage.
  std::string ToText() const;
};

}  // namespace stoker
