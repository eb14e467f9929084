// Spans of time on threads, of which traces and flame graphs are made (stoker/trace writes them).
//
//   const TraceSpan span("checkpoint");  // until the end of the scope
//
// While nothing records them, the normal case, a span costs one relaxed atomic load, and so does a
// counter. While a TraceRecorder exists (trace_recorder.h), a span costs two readings of the clock
// and about 20 ns more; its thread takes no lock and allocates nothing after its first span.
//
// Thread-safe. A span belongs to the thread that made it. Spans of one thread end in the reverse
// order of their beginnings, as variables of nested scopes do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "stoker/base/clock.h"

namespace stoker {

// The name of spans or of a counter. Its text lives as long as the process.
class TraceName {
 public:
  // Of a literal, so that names need no registration.
  template <size_t kSize>
  constexpr TraceName(const char (&literal)[kSize])  // NOLINT(google-explicit-constructor)
      : text_(literal) {}

  // Returns the name with this text; equal texts give the same name. Takes a lock. There are at
  // most kMostTraceNames such names in a process, and all later texts give the name "(other)".
  static TraceName Intern(std::string_view text);

  const char* text() const { return text_; }

 private:
  struct Kept {};
  TraceName(Kept /*by*/, const char* text) : text_(text) {}

  const char* text_;
};

inline constexpr size_t kMostTraceNames = 4096;

// What a thread does in a span, or what a counter counts.
enum class TraceKind : uint8_t {
  kWork,
  kStarved,  // waits for an input
  kBlocked,  // waits for its consumer to take something
  kMemory,   // waits for room in the memory budget
  kTurn,     // waits for another thread of its stage to have taken its input
  kQueue,    // a counter: the chunks or batches that wait in a queue
  kBytes     // a counter: bytes
};

namespace internal {

// The number of the recorder that exists; 0: none.
extern std::atomic<uint32_t> trace_session;

class TraceBuffer;

}  // namespace internal

// Returns whether spans are recorded now.
inline bool TraceIsOn() { return internal::trace_session.load(std::memory_order_relaxed) != 0; }

// A span lasts while the object lives. It is recorded when it ends, and only if a recorder existed
// when it began.
class TraceSpan {
 public:
  explicit TraceSpan(TraceName name, TraceKind kind = TraceKind::kWork) {
    if (TraceIsOn()) Begin(name, kind, NowNs());
  }
  // For a caller who has read the clock already.
  //   begin_ns  NowNs(); 0: the span is not timed, and only encloses those inside it
  TraceSpan(TraceName name, TraceKind kind, int64_t begin_ns) {
    if (TraceIsOn()) Begin(name, kind, begin_ns);
  }
  ~TraceSpan() {
    if (buffer_ != nullptr) End(begin_ns_ == 0 ? 0 : NowNs(), /*stands_for=*/1);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

  // Ends the span before its scope does.
  //   stands_for  how many spans it counts for, of which the others are not timed
  void EndAt(int64_t end_ns, int stands_for = 1) {
    if (buffer_ != nullptr) End(end_ns, stands_for);
  }

 private:
  void Begin(TraceName name, TraceKind kind, int64_t begin_ns);
  void End(int64_t end_ns, int stands_for);

  internal::TraceBuffer* buffer_ = nullptr;  // null: not recorded
  int64_t begin_ns_ = 0;                     // 0: not timed
};

namespace internal {

void RecordCount(TraceName name, TraceKind kind, int64_t value);

}  // namespace internal

// Records the value of a counter, kQueue or kBytes.
inline void TraceCount(TraceName name, TraceKind kind, int64_t value) {
  if (TraceIsOn()) internal::RecordCount(name, kind, value);
}

}  // namespace stoker
