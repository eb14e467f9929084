#include "stoker/data/core/shared_loops.h"

#include <algorithm>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

// What the calling thread is at the moment; null within a round, and on all other threads.
thread_local SharedLoops::Member* current = nullptr;

// The loop's caller keeps a failed round's error as a value, so nothing stays noted on the thread.
void RunRound(int64_t round, StageStats& stats, const std::function<void(int64_t)>& body) {
  const ScopedStageTime time(stats);
  {
    const FailureScope failures;
    body(round);
  }
  FailureScope::Take({});
}

}  // namespace

struct SharedLoops::Loop {
  const int64_t chunk;
  int64_t rounds;  // fewer where one has thrown
  StageStats& stats;
  const std::function<void(int64_t)>& body;
  const StopScope* scope;  // of the thread that opened it, which waits in it
  int64_t next = 0;        // the first not yet begun
  int64_t running = 0;
  int64_t asked_by_others = 0;
  std::exception_ptr thrown;
  int64_t thrown_in = 0;
};

SharedLoops::Member::Member(SharedLoops& loops, int64_t chunk)
    : loops_(loops), chunk_(chunk), around_(std::exchange(current, this)) {}

SharedLoops::Member::~Member() { current = around_; }

int64_t SharedLoops::OpenedByThisThread() { return current == nullptr ? 0 : current->opened_; }

SharedLoops* SharedLoops::OfThisThread() { return current == nullptr ? nullptr : &current->loops_; }

bool SharedLoops::ReadsAreSlow(const StageStats& stage) const {
  const MutexLock lock(mutex_);
  return std::ranges::find(slow_, &stage) != slow_.end();
}

void SharedLoops::SetReadsAreSlow(const StageStats& stage, bool slow) {
  const MutexLock lock(mutex_);
  std::erase(slow_, &stage);
  if (slow) slow_.push_back(&stage);
}

void SharedLoops::Help() {
  const MutexLock lock(mutex_);
  while (RunOldest(nullptr)) {
  }
}

void SharedLoops::Run(Member& member, int64_t rounds, StageStats& stats,
                      const std::function<void(int64_t)>& body) {
  Loop loop{.chunk = member.chunk_,
            .rounds = rounds,
            .stats = stats,
            .body = body,
            .scope = StopScope::Innermost()};
  ++member.opened_;
  const MutexLock lock(mutex_);
  const auto older = [](const Loop* one, const Loop* other) { return one->chunk < other->chunk; };
  open_.insert(std::ranges::upper_bound(open_, &loop, older), &loop);
  unclaimed_ += rounds;
  {
    const MutexUnlock meanwhile(mutex_);
    opened_();
  }
  while (loop.next < loop.rounds) RunOldest(&loop);
  if (loop.running > 0) {
    const ScopedStageTime time(stats, ScopedStageTime::Kind::kBlocked);
    while (loop.running > 0) all_done_.Wait(mutex_);
  }
  std::erase(open_, &loop);
  member.asked_by_others_ += loop.asked_by_others;
  if (loop.thrown) std::rethrow_exception(loop.thrown);
}

bool SharedLoops::RunOldest(const Loop* own) {
  const auto found =
      std::ranges::find_if(open_, [](const Loop* loop) { return loop->next < loop->rounds; });
  if (found == open_.end()) return false;
  Loop& loop = **found;
  const int64_t round = loop.next++;
  ++loop.running;
  --unclaimed_;
  RunRoundOf(loop, round, own);
  return true;
}

void SharedLoops::RunRoundOf(Loop& loop, int64_t round, const Loop* own) {
  int64_t asked = 0;
  std::exception_ptr thrown;
  {
    const MutexUnlock meanwhile(mutex_);
    const int64_t asked_before = Scratch::BytesAskedByThisThread();
    Member* const outside = std::exchange(current, nullptr);
    try {
      const StopScope scope(loop.scope);
      RunRound(round, loop.stats, loop.body);
    } catch (...) {
      thrown = std::current_exception();
    }
    current = outside;
    asked = Scratch::BytesAskedByThisThread() - asked_before;
    if (&loop != own) Scratch::ForgetBytesAskedSince(asked_before);
    if (made_) made_();
  }
  if (&loop != own) loop.asked_by_others += asked;
  Finish(loop, round, std::move(thrown));
}

void SharedLoops::Finish(Loop& loop, int64_t round, std::exception_ptr thrown) {
  if (thrown) {
    unclaimed_ -= loop.rounds - loop.next;
    loop.rounds = loop.next;
    if (!loop.thrown || round < loop.thrown_in) {
      loop.thrown = std::move(thrown);
      loop.thrown_in = round;
    }
  }
  if (--loop.running == 0) all_done_.NotifyAll();
}

void ForEachShared(int64_t rounds, StageStats& stats, const std::function<void(int64_t)>& body) {
  if (current != nullptr && rounds > 1) {
    current->loops_.Run(*current, rounds, stats, body);
    return;
  }
  for (int64_t round = 0; round < rounds; ++round) RunRound(round, stats, body);
}

}  // namespace stoker
