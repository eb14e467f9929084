// TraceBuffer: what one thread has recorded, and the list of all buffers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/trace_recorder.h"

namespace stoker::internal {

// Written by one thread, read by another, without a lock.
class TraceBuffer {
 public:
  // Of the calling thread.
  TraceBuffer();

  // --- The thread's side.

  // Returns false if the span cannot be recorded; then End must not be called for it, nor Leave.
  bool Begin(const char* name, TraceKind kind);
  void End(int64_t begin_ns, int64_t end_ns, int stands_for);
  // Ends one that was not timed.
  void Leave() { current_ = nodes_[current_].parent; }
  void Count(const char* name, TraceKind kind, int64_t now_ns, int64_t value);
  // Returns whether a span has begun and not ended.
  bool has_open() const { return current_ != 0; }
  // The thread ends; nothing follows.
  void Close() { closed_.store(true, std::memory_order_release); }

  // --- The reader's side.

  const TraceThread& thread() const { return thread_; }
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // Appends the events since the last call.
  void TakeEvents(std::vector<TraceEvent>& events);
  // Adds the sums to `stacks`, the spans without others around them.
  void AddStacks(std::vector<TraceStack>& stacks) const;
  void AddLosses(TraceLosses& losses) const;

 private:
  // A span below others, as a node of a tree. Number 0 is the root, which is no span. What is not
  // atomic is written before `nodes_used_` covers the node, but for the links to other nodes, which
  // only the thread itself follows.
  struct Node {
    const char* name = nullptr;
    TraceKind kind = TraceKind::kWork;
    uint16_t parent = 0, first_child = 0, next_sibling = 0;
    std::atomic<int64_t> total_ns{0}, count{0};
  };
  static_assert(kTraceStacksAThread <= UINT16_MAX);

  uint16_t ChildOf(uint16_t parent, const char* name, TraceKind kind);
  bool HasSliceRoom(int64_t now_ns);
  void Push(const TraceEvent& event);

  TraceThread thread_;
  uint16_t current_ = 0;  // the innermost open span
  int64_t slice_began_ns_ = 0;
  int in_slice_ = 0;

  std::array<Node, kTraceStacksAThread> nodes_;
  std::atomic<uint16_t> nodes_used_{1};
  std::array<TraceEvent, kTraceEventsAThread> ring_;
  std::atomic<uint64_t> written_{0}, taken_{0};  // events in all
  std::atomic<int64_t> brief_{0}, full_{0}, unstacked_{0};
  std::atomic<bool> closed_{false};
};

// The buffers of all threads for the recorder that exists. Thread-safe.
class TraceBuffers {
 public:
  static TraceBuffers& Of();

  // Returns the number of a new recorder; 0 if there is one.
  uint32_t Open() STOKER_EXCLUDES(mutex_);
  void Close() STOKER_EXCLUDES(mutex_);

  // Returns a buffer for the calling thread; null if there are too many, no memory, or another
  // recorder by now.
  std::shared_ptr<TraceBuffer> New(uint32_t session) STOKER_EXCLUDES(mutex_);
  std::vector<std::shared_ptr<TraceBuffer>> All() const STOKER_EXCLUDES(mutex_);
  // The buffer is not needed any more.
  void Drop(const TraceBuffer& buffer) STOKER_EXCLUDES(mutex_);

  // Counts a span or a counter of a thread that has no buffer.
  void CountUnheld() { unheld_.fetch_add(1, std::memory_order_relaxed); }
  int64_t unheld() const { return unheld_.load(std::memory_order_relaxed); }

 private:
  mutable Mutex mutex_;
  bool open_ STOKER_GUARDED_BY(mutex_) = false;
  uint32_t session_ STOKER_GUARDED_BY(mutex_) = 0;  // the newest
  std::vector<std::shared_ptr<TraceBuffer>> buffers_ STOKER_GUARDED_BY(mutex_);
  std::atomic<int64_t> unheld_{0};
};

// Adds `from` to `to`, each node to that of its name and kind.
void MergeStacks(const std::vector<TraceStack>& from, std::vector<TraceStack>& to);

}  // namespace stoker::internal
