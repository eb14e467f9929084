#include "stoker/base/trace_buffer_internal.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "stoker/base/per_process.h"

namespace stoker::internal {
namespace {

// A counter that one thread writes and others read.
void Add(std::atomic<int64_t>& counter, int64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

TraceThread ThisThread() {
  TraceThread thread{.id = ::syscall(SYS_gettid), .name = "main"};
  char name[16] = {};
  if (thread.id != ::getpid() && ::pthread_getname_np(::pthread_self(), name, sizeof(name)) == 0)
    thread.name = name;
  return thread;
}

bool Precedes(const TraceStack& one, const TraceStack& other) {
  return std::pair(std::string_view(one.name), one.kind) <
         std::pair(std::string_view(other.name), other.kind);
}

}  // namespace

TraceBuffer::TraceBuffer() : thread_(ThisThread()) {}

// Returns 0 if there is no room for another.
uint16_t TraceBuffer::ChildOf(uint16_t parent, const char* name, TraceKind kind) {
  for (uint16_t at = nodes_[parent].first_child; at != 0; at = nodes_[at].next_sibling) {
    if (nodes_[at].name == name && nodes_[at].kind == kind) return at;
  }
  const uint16_t added = nodes_used_.load(std::memory_order_relaxed);
  if (added == nodes_.size()) return 0;
  Node& node = nodes_[added];
  node.name = name;
  node.kind = kind;
  node.parent = parent;
  node.next_sibling = std::exchange(nodes_[parent].first_child, added);
  nodes_used_.store(static_cast<uint16_t>(added + 1), std::memory_order_release);
  return added;
}

bool TraceBuffer::Begin(const char* name, TraceKind kind) {
  const uint16_t child = ChildOf(current_, name, kind);
  if (child == 0) {
    Add(unstacked_, 1);
    return false;
  }
  current_ = child;
  return true;
}

void TraceBuffer::End(int64_t begin_ns, int64_t end_ns, int stands_for) {
  Node& node = nodes_[current_];
  Add(node.total_ns, (end_ns - begin_ns) * stands_for);
  Add(node.count, stands_for);
  current_ = node.parent;
  if (!HasSliceRoom(end_ns) && end_ns - begin_ns < kTraceShortNs) return Add(brief_, 1);
  Push({.name = node.name, .begin_ns = begin_ns, .end_ns = end_ns, .kind = node.kind});
}

void TraceBuffer::Count(const char* name, TraceKind kind, int64_t now_ns, int64_t value) {
  if (!HasSliceRoom(now_ns)) return Add(brief_, 1);
  Push({.name = name, .begin_ns = now_ns, .end_ns = value, .kind = kind});
}

// Returns whether less than the limit was recorded in the slice of time of `now_ns`.
bool TraceBuffer::HasSliceRoom(int64_t now_ns) {
  if (now_ns - slice_began_ns_ >= kTraceSliceNs) {
    slice_began_ns_ = now_ns;
    in_slice_ = 0;
  }
  return in_slice_ < kTraceEventsASlice;
}

void TraceBuffer::Push(const TraceEvent& event) {
  const uint64_t written = written_.load(std::memory_order_relaxed);
  if (written - taken_.load(std::memory_order_acquire) == ring_.size()) return Add(full_, 1);
  ring_[written % ring_.size()] = event;
  written_.store(written + 1, std::memory_order_release);
  ++in_slice_;
}

void TraceBuffer::TakeEvents(std::vector<TraceEvent>& events) {
  const uint64_t written = written_.load(std::memory_order_acquire);
  for (uint64_t i = taken_.load(std::memory_order_relaxed); i < written; ++i)
    events.push_back(ring_[i % ring_.size()]);
  taken_.store(written, std::memory_order_release);
}

// Children follow their parents in the array, so the last node has none. A span may have ended
// while those around it go on, or have been read a moment later: the latter get its time too.
void TraceBuffer::AddStacks(std::vector<TraceStack>& stacks) const {
  const size_t used = nodes_used_.load(std::memory_order_acquire);
  std::vector<TraceStack> made(used);
  for (size_t i = 1; i < used; ++i) {
    made[i].name = nodes_[i].name;
    made[i].kind = nodes_[i].kind;
    made[i].total_ns = nodes_[i].total_ns.load(std::memory_order_relaxed);
    made[i].count = nodes_[i].count.load(std::memory_order_relaxed);
  }
  for (size_t i = used - 1; i >= 1; --i) {
    TraceStack& done = made[i];
    int64_t inside = 0;
    for (const TraceStack& child : done.children) inside += child.total_ns;
    done.total_ns = std::max(done.total_ns, inside);
    if (done.total_ns > 0) made[nodes_[i].parent].children.push_back(std::move(done));
  }
  MergeStacks(made[0].children, stacks);
}

void TraceBuffer::AddLosses(TraceLosses& losses) const {
  losses.brief += brief_.load(std::memory_order_relaxed);
  losses.full += full_.load(std::memory_order_relaxed);
  losses.unstacked += unstacked_.load(std::memory_order_relaxed);
}

TraceBuffers& TraceBuffers::Of() {
  static PerProcess<TraceBuffers> of_processes;  // threads may outlive static variables
  return of_processes.Get();
}

uint32_t TraceBuffers::Open() {
  const MutexLock lock(mutex_);
  if (open_) return 0;
  open_ = true;
  unheld_ = 0;
  if (++session_ == 0) ++session_;
  return session_;
}

void TraceBuffers::Close() {
  const MutexLock lock(mutex_);
  open_ = false;
  buffers_.clear();
}

std::shared_ptr<TraceBuffer> TraceBuffers::New(uint32_t session) {
  const MutexLock lock(mutex_);
  if (!open_ || session != session_ || buffers_.size() >= kMostTraceThreads) return nullptr;
  try {
    return buffers_.emplace_back(std::make_shared<TraceBuffer>());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::vector<std::shared_ptr<TraceBuffer>> TraceBuffers::All() const {
  const MutexLock lock(mutex_);
  return buffers_;
}

void TraceBuffers::Drop(const TraceBuffer& buffer) {
  const MutexLock lock(mutex_);
  std::erase_if(buffers_, [&](const auto& each) { return each.get() == &buffer; });
}

void MergeStacks(const std::vector<TraceStack>& from, std::vector<TraceStack>& to) {
  for (const TraceStack& added : from) {
    const auto place = std::ranges::lower_bound(to, added, Precedes);
    if (place == to.end() || Precedes(added, *place)) {
      TraceStack& made = *to.insert(place, TraceStack{.name = added.name, .kind = added.kind});
      made.total_ns = added.total_ns;
      made.count = added.count;
      MergeStacks(added.children, made.children);
      continue;
    }
    place->total_ns += added.total_ns;
    place->count += added.count;
    MergeStacks(added.children, place->children);
  }
}

}  // namespace stoker::internal
