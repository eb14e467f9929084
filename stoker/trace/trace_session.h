// TraceSession: records what the process does and writes it into files while it works.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/status.h"
#include "stoker/base/trace_recorder.h"
#include "stoker/base/worker_group.h"
#include "stoker/trace/trace_file.h"

namespace stoker {

// The bytes that a trace takes on the disk, at most.
inline constexpr uint64_t kMostTraceBytes = uint64_t{256} << 20;

// What to write. An empty path: not this.
struct TraceOutputs {
  std::string trace = {};   // chrome_trace.h
  std::string flame = {};   // flame_graph.h
  std::string folded = {};  // folded_stacks.h
  double seconds = 30;      // how long to record, from BeginWindow on; > 0
  uint64_t most_bytes = kMostTraceBytes;

  bool any() const { return !trace.empty() || !flame.empty() || !folded.empty(); }
};

struct TraceReport {
  int64_t events = 0;  // in the trace
  bool full = false;   // the trace has reached its size before the end
  double seconds = 0;  // recorded
  TraceLosses losses;
};

// Records from its making until `seconds` after BeginWindow, or Finish. The trace is written as it
// grows and is valid at every moment (trace_file.h); the sums of time, of the same span of time,
// are written at its end.
//
// Costs a thread, which looks at the buffers 20 times a second. BeginWindow may be called by any
// thread, the others by one at a time.
class TraceSession {
 public:
  // Errors: kFailedPrecondition while another records in this process; those of creating the files.
  static Result<std::unique_ptr<TraceSession>> Start(TraceOutputs outputs, std::string command,
                                                     std::string version);
  // Finishes.
  ~TraceSession();
  TraceSession(const TraceSession&) = delete;
  TraceSession& operator=(const TraceSession&) = delete;

  // The recorded seconds count from now on; again: nothing.
  void BeginWindow();

  // Ends the recording, if it has not ended, and returns when all is written. Errors: those of
  // writing, the first of them. Call once.
  Result<TraceReport> Finish();

 private:
  TraceSession(TraceOutputs outputs, std::string command)
      : outputs_(std::move(outputs)), command_(std::move(command)) {}
  void Work();
  bool MustEnd() const;
  void WriteNewEvents();
  void WriteMemory();
  void WriteEnd();
  void Keep(const Status& status);

  const TraceOutputs outputs_;
  const std::string command_;
  std::unique_ptr<TraceRecorder> recorder_;
  std::optional<TraceFile> file_;
  TraceReport report_;
  Status error_;
  int64_t looks_ = 0;

  std::atomic<int64_t> window_began_ns_{0};  // 0: not yet
  Mutex mutex_;
  CondVar changed_;
  bool ending_ STOKER_GUARDED_BY(mutex_) = false;
  WorkerGroup writer_;  // last: it uses the others
};

}  // namespace stoker
