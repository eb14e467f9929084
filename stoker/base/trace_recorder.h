// TraceRecorder: collects the spans and counters (trace.h) of all threads of the process.
//
// Each thread writes into a buffer of its own without a lock: a ring of its newest events, which
// Drain empties, and the sums of time by stack of spans. The sums are complete; of events some are
// left out, so that recording stays cheap and bounded, and each is counted (TraceLosses):
//   * a thread that has recorded kTraceEventsASlice events within kTraceSliceNs leaves out the
//     spans shorter than kTraceShortNs that follow in this slice of time, and the counters;
//   * where Drain comes too late and a ring is full, the newest event is dropped;
//   * threads that come when kMostTraceThreads others have buffers get none.
// So a recorder takes at most kMostTraceThreads x 161 KiB = 21 MiB, whatever is recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/base/trace.h"

namespace stoker {

inline constexpr int64_t kTraceSliceNs = 10'000'000;
inline constexpr int kTraceEventsASlice = 64;
inline constexpr int64_t kTraceShortNs = 100'000;
inline constexpr size_t kTraceEventsAThread = 4096;  // in a ring
inline constexpr size_t kTraceStacksAThread = 1024;  // different stacks of a thread
inline constexpr size_t kMostTraceThreads = 128;

// A span that has ended, or a value of a counter.
struct TraceEvent {
  const char* name = nullptr;  // lives as long as the process
  int64_t begin_ns = 0;        // NowNs()
  int64_t end_ns = 0;          // of a counter its value
  TraceKind kind = TraceKind::kWork;

  bool is_counter() const { return kind == TraceKind::kQueue || kind == TraceKind::kBytes; }
};

struct TraceThread {
  int64_t id = 0;    // the kernel's: gettid(2)
  std::string name;  // "main", or as top shows it: "decode0"
};

// What was left out, in events.
struct TraceLosses {
  int64_t brief = 0;      // short spans, and counters, beyond the limit of a slice of time
  int64_t full = 0;       // the thread's ring was full
  int64_t unheld = 0;     // of threads without a buffer
  int64_t unstacked = 0;  // of more different stacks than a buffer holds; missing in the sums too
};

// The time of spans below the same spans, summed; outermost first.
struct TraceStack {
  std::string name;
  TraceKind kind = TraceKind::kWork;
  int64_t total_ns = 0;  // at least that of the children together
  int64_t count = 0;
  std::vector<TraceStack> children = {};  // by name, then by kind

  int64_t self_ns() const;
};

// Of all threads of one name, without the numbers at their ends: "decode".
struct TraceThreadStacks {
  std::string thread;
  int64_t threads = 0;  // how many there were
  std::vector<TraceStack> stacks = {};
};

// One at a time in a process. Drain, stacks and losses are called by one thread at a time.
class TraceRecorder {
 public:
  // Spans that begin from now on are recorded. Errors: kFailedPrecondition while another exists.
  static Result<std::unique_ptr<TraceRecorder>> Start();
  ~TraceRecorder();
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  // Spans that begin from now on are not recorded.
  void Stop();

  // Hands over the events since the last call, thread by thread. Those of one thread come in the
  // order in which the spans ended, in one call or several. Call it every 0.1 s or more often.
  using Take = std::function<void(const TraceThread&, std::span<const TraceEvent>)>;
  void Drain(const Take& take);

  // Returns the sums so far, of spans that have ended, ordered by thread.
  std::vector<TraceThreadStacks> Stacks() const;
  TraceLosses losses() const;

  // Returns NowNs() when it was started. A span of a thread that had read the clock already may
  // begin a moment before.
  int64_t began_ns() const { return began_ns_; }

 private:
  explicit TraceRecorder(uint32_t session);
  void Retire(const internal::TraceBuffer& buffer);

  const uint32_t session_;
  const int64_t began_ns_ = NowNs();
  std::map<std::string, TraceThreadStacks> ended_;  // of threads that have ended
  TraceLosses ended_losses_;
};

}  // namespace stoker
