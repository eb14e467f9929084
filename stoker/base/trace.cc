#include "stoker/base/trace.h"

#include <memory>
#include <string>
#include <unordered_set>

#include "stoker/base/per_process.h"
#include "stoker/base/trace_buffer_internal.h"

namespace stoker {

namespace internal {

std::atomic<uint32_t> trace_session{0};

}  // namespace internal

namespace {

using internal::TraceBuffer;
using internal::TraceBuffers;

// The calling thread's buffer. It needs no destructor, so that a span in another variable's
// destructor finds it as long as the thread lives.
struct OwnBuffer {
  TraceBuffer* buffer = nullptr;  // null: there is none for it
  uint32_t session = 0;           // for which it was asked; 0: never
  bool over = false;              // the thread ends
};
thread_local OwnBuffer own;

// Keeps the buffer, and tells its reader when the thread ends.
struct BufferKeeper {
  std::shared_ptr<TraceBuffer> kept;

  BufferKeeper() = default;
  BufferKeeper(const BufferKeeper&) = delete;
  BufferKeeper& operator=(const BufferKeeper&) = delete;
  ~BufferKeeper() {
    own = {.over = true};
    if (kept) kept->Close();
  }
};
thread_local BufferKeeper keeper;

// Null if the thread has none and gets none. A buffer with open spans is kept until they end, even
// if its recorder is gone: they point to it.
TraceBuffer* BufferOfThread() {
  const uint32_t session = internal::trace_session.load(std::memory_order_relaxed);
  if (own.session == session || session == 0 || own.over) return own.buffer;
  if (own.buffer != nullptr && own.buffer->has_open()) return own.buffer;
  if (keeper.kept) keeper.kept->Close();
  keeper.kept = TraceBuffers::Of().New(session);
  own.buffer = keeper.kept.get();
  own.session = session;
  return own.buffer;
}

// The texts are never freed: spans that are still to be written may have them. Each stage of a pass
// asks, so a child of fork() has names of its own.
struct InternedNames {
  Mutex mutex;
  std::unordered_set<std::string> names STOKER_GUARDED_BY(mutex);
};

}  // namespace

TraceName TraceName::Intern(std::string_view text) {
  static PerProcess<InternedNames> of_processes;
  InternedNames& all = of_processes.Get();
  const MutexLock lock(all.mutex);
  if (const auto found = all.names.find(std::string(text)); found != all.names.end())
    return {Kept(), found->c_str()};
  if (all.names.size() >= kMostTraceNames) return TraceName("(other)");
  return {Kept(), all.names.emplace(text).first->c_str()};
}

void TraceSpan::Begin(TraceName name, TraceKind kind, int64_t begin_ns) {
  TraceBuffer* const buffer = BufferOfThread();
  if (buffer == nullptr) return TraceBuffers::Of().CountUnheld();
  if (!buffer->Begin(name.text(), kind)) return;
  buffer_ = buffer;
  begin_ns_ = begin_ns;
}

void TraceSpan::End(int64_t end_ns, int stands_for) {
  if (begin_ns_ == 0) {
    buffer_->Leave();
  } else {
    buffer_->End(begin_ns_, end_ns, stands_for);
  }
  buffer_ = nullptr;
}

void internal::RecordCount(TraceName name, TraceKind kind, int64_t value) {
  TraceBuffer* const buffer = BufferOfThread();
  if (buffer == nullptr) return TraceBuffers::Of().CountUnheld();
  buffer->Count(name.text(), kind, NowNs(), value);
}

}  // namespace stoker
