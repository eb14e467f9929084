// What the threads of a ReadAhead do, and what they report to the tuner.
#include <algorithm>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/runtime/read_ahead.h"

namespace stoker {
namespace {

// The thread's own part of its ReadAhead's CpuShare; null on all other threads.
thread_local CpuShare::Thread* worker = nullptr;

// Where too few chunks come to judge by, the tuner waits for so long.
constexpr int64_t kTuneAtLatestNs = 1'000'000'000;
constexpr int64_t kChunksToJudgeBy = 2;  // for each thread
// Delivered in any order, chunks may be so many times the depth ahead of the slowest.
constexpr int64_t kAheadOfSlowest = 8;

int64_t UnchargedBytesOf(const Chunk& chunk) {
  int64_t bytes = chunk.rows ? UnchargedBytes(chunk.rows->columns) : 0;
  for (const Element& element : chunk.elements) bytes += UnchargedBytes(element.arrays);
  return bytes;
}

// User code may throw; a worker must not. Runs `work` on `chunk`, or says in it what was thrown.
template <typename Work>
void Caught(Chunk& chunk, const Work& work) {
  try {
    work();
  } catch (...) {
    const int64_t at = chunk.begin + std::ssize(chunk.elements);
    chunk.error = ThrownError(fmt::format("reading element {}", at));
  }
}

}  // namespace

void ReadAhead::Work() {
  const StopScope scope([this] { return inside_->raised(); });
  CpuShare::Thread self;
  worker = &self;
  while (std::optional<Ticket> ticket = TakeTicket(self)) {
    {
      const SharedLoops::Member member(loops_, ticket->number);
      Caught(ticket->chunk, [&] { source_->Finish(ticket->chunk); });
      Publish(*std::move(ticket), member);
    }
    CountWork(self);
  }
}

void ReadAhead::CountWork(CpuShare::Thread& self) {
  if (!self.Count()) return;
  const MutexLock lock(mutex_);
  cpu_share_.Add(self);
}

void ReadAhead::OnRoundMade() {
  ++rounds_made_;
  CountWork(*worker);
}

std::optional<ReadAhead::Ticket> ReadAhead::TakeTicket(CpuShare::Thread& self) {
  while (true) {
    Ticket ticket{};
    Step next = WaitForTurn();
    if (next == Step::kEnd) return std::nullopt;
    if (next == Step::kGoOn) {
      next = WaitForRoom(ticket);
      if (next == Step::kGoOn) next = WaitForMemory(ticket);
      if (next == Step::kGoOn) {
        self.Begin();
        TakeChunk(ticket);
        return ticket;
      }
      PassTurn(/*exhausted=*/next == Step::kEnd);
      if (next == Step::kEnd) return std::nullopt;
    }
    Help(self);
  }
}

void ReadAhead::TakeChunk(Ticket& ticket) {
  ticket.began_ns = NowNs();
  {
    const MutexLock lock(mutex_);
    CountWorking(+1);
  }
  // What the input's stages do in it is their time; the rest is waiting for them.
  const ScopedStageTime time(stats(), ScopedStageTime::Kind::kStarved);
  Chunk& chunk = ticket.chunk;
  Caught(chunk, [&] { source_->Take(ticket.wanted, frontier_, chunk); });
  PassTurn(chunk.last || !chunk.error.ok());
}

void ReadAhead::Help(CpuShare::Thread& self) {
  self.Begin();
  {
    const MutexLock lock(mutex_);
    CountWorking(+1);
  }
  loops_.Help();
  {
    const MutexLock lock(mutex_);
    CountWorking(-1);
  }
  CountWork(self);
}

void ReadAhead::OnLoopOpened() {
  {
    const MutexLock lock(mutex_);
    // Of the first chunk nothing else is known. Later the tuner goes by what most of them were.
    if (!any_published_) Log(tuner_.SetChunksAreMadeTogether(true));
  }
  turn_.NotifyAll();
  room_.NotifyAll();
  pass().ledger().Recheck();
}

// A thread that waits for its turn waits for what those ahead of it wait for: for the consumer and
// for memory while they are blocked, else for the input.
ReadAhead::Step ReadAhead::WaitForTurn() {
  const int64_t began = NowNs();
  const TraceSpan span(stats().trace_name(), TraceKind::kTurn, began);
  const int64_t blocked_before = TurnsBlockedNs(began);
  Step next = Step::kGoOn;
  {
    const MutexLock lock(mutex_);
    while ((turn_taken_ || exhausted_) && !loops_.has_work() && !MustEnd()) turn_.Wait(mutex_);
    if (MustEnd()) {
      next = Step::kEnd;
      --running_;
    } else if (loops_.has_work()) {
      next = Step::kHelp;
    } else {
      turn_taken_ = true;
    }
  }
  const int64_t now = NowNs();
  // The two figures are not read at one moment, hence the limits.
  const int64_t blocked = std::clamp<int64_t>(TurnsBlockedNs(now) - blocked_before, 0, now - began);
  stats().AddBlocked(blocked);
  stats().AddStarved(now - began - blocked);
  return next;
}

void ReadAhead::PassTurn(bool exhausted) {
  {
    const MutexLock lock(mutex_);
    turn_taken_ = false;
    exhausted_ = exhausted_ || exhausted;
  }
  exhausted ? turn_.NotifyAll() : turn_.NotifyOne();
}

int64_t ReadAhead::TurnsBlockedNs(int64_t now) const {
  const int64_t since = turn_blocked_since_ns_;
  return turns_blocked_ns_ + (since == 0 ? 0 : std::max<int64_t>(0, now - since));
}

class ReadAhead::BlockedTurn {
 public:
  BlockedTurn(ReadAhead& of, TraceKind kind)
      : of_(of), span_(of.stats().trace_name(), kind, began_) {
    of_.turn_blocked_since_ns_ = began_;
  }
  BlockedTurn(const BlockedTurn&) = delete;
  BlockedTurn& operator=(const BlockedTurn&) = delete;
  ~BlockedTurn() {
    const int64_t elapsed = NowNs() - began_;
    of_.turn_blocked_since_ns_ = 0;
    of_.turns_blocked_ns_ += elapsed;
    of_.stats().AddBlocked(elapsed);
  }

 private:
  ReadAhead& of_;
  const int64_t began_ = NowNs();
  const TraceSpan span_;
};

bool ReadAhead::HasRoom() const {
  const int64_t depth = tuner_.depth();
  return next_ticket_ - consumed_ < depth &&
         next_ticket_ - consumed_tickets_.frontier() < kAheadOfSlowest * depth;
}

ReadAhead::Step ReadAhead::WaitForRoom(Ticket& ticket) {
  const MutexLock lock(mutex_);
  const auto may_go = [this]() STOKER_REQUIRES(mutex_) { return MayLeaveRoomWait(); };
  if (!MayLeaveRoomWait()) {
    const BlockedTurn blocked(*this, TraceKind::kBlocked);
    // A consumer that takes nothing does not look whether there are too many threads.
    while (tuner_.may_shrink()) {
      if (room_.WaitFor(mutex_, std::chrono::nanoseconds(kTuneEveryNs), may_go)) break;
      TuneIfDue(NowNs());
    }
    room_.Wait(mutex_, may_go);
  }
  if (stopping_) return Step::kEnd;
  if (loops_.has_work()) return Step::kHelp;
  ticket.number = next_ticket_++;
  ticket.wanted = tuner_.chunk();
  return Step::kGoOn;
}

ReadAhead::Step ReadAhead::WaitForMemory(Ticket& ticket) {
  Ledger& ledger = pass().ledger();
  int64_t expected = std::max(source_->MemoryToMake(ticket.wanted).value_or(0),
                              ticket.wanted * largest_element_bytes_);
  // If the Specs give no size, nothing is known of the first chunk: let it through alone. If others
  // have been made since and asked for nothing, their elements arrive charged.
  if (expected == 0 && !any_published_) expected = ledger.budget_bytes();
  if (ledger.bytes() + expected > ledger.budget_bytes()) pass().TrimPools();
  {
    const BlockedTurn blocked(*this, TraceKind::kMemory);
    ticket.memory = ledger.Admit(
        expected, [&] { return consumed_ == ticket.number; },
        [&] { return stopping_ || loops_.has_work(); });
  }
  TraceCount("memory of pipelines", TraceKind::kBytes, ledger.bytes());
  ticket.asked_before = Scratch::BytesAskedByThisThread();
  if (ticket.memory.granted()) return Step::kGoOn;
  const MutexLock lock(mutex_);
  --next_ticket_;  // the thread with the next turn takes it
  return stopping_ ? Step::kEnd : Step::kHelp;
}

void ReadAhead::Publish(Ticket ticket, const SharedLoops::Member& member) {
  Chunk& chunk = ticket.chunk;
  const int64_t uncharged = UnchargedBytesOf(chunk);
  const int64_t asked = Scratch::BytesAskedByThisThread() - ticket.asked_before +
                        member.asked_by_others() + uncharged;
  const int64_t made = std::max<int64_t>(1, chunk.size());
  const int64_t for_each = (asked + made - 1) / made;
  int64_t largest = largest_element_bytes_;
  while (for_each > largest && !largest_element_bytes_.compare_exchange_weak(largest, for_each)) {
  }
  any_published_ = true;
  chunk.memory = std::move(ticket.memory);
  chunk.memory.ShrinkTo(uncharged);
  bool wanted = false;
  {
    const MutexLock lock(mutex_);
    CountWorking(-1);
    ++(member.had_loops() ? interval_.made_together : interval_.made_alone);
    if (chunk.size() > 0) tuner_.AddChunk(chunk.size(), asked, NowNs() - ticket.began_ns);
    finished_.emplace(ticket.number, std::move(chunk));
    wanted = consumer_waits_ && HasChunkForConsumer();
  }
  // Without the lock, which the consumer would otherwise wake up to wait for.
  if (wanted) chunk_ready_.NotifyOne();
  if (doorbell_) doorbell_->Ring();
}

// --- The tuner's.

void ReadAhead::CountWorking(int change) {
  const int64_t now = NowNs();
  interval_.worked_ns += working_ * (now - working_since_ns_);
  working_since_ns_ = now;
  working_ += change;
  if (NothingLeft()) turn_.NotifyAll();
}

void ReadAhead::TuneIfDue(int64_t now) {
  if (interval_.began_ns == 0) {
    if (any_order_) {
      Log({{.what = "order", .why = "chunks are delivered as they finish (deterministic: false)"}});
    }
    Log(tuner_.FirstDecisions());
    interval_ = {.began_ns = now, .rounds_before = rounds_made_};
    return;
  }
  const int64_t elapsed = now - interval_.began_ns;
  if (elapsed < kTuneEveryNs) return;
  const int64_t rounds = rounds_made_ - interval_.rounds_before;
  const int64_t to_judge_by = std::max(rounds, interval_.chunks);
  if (to_judge_by < kChunksToJudgeBy * running_ && elapsed < kTuneAtLatestNs) return;
  CountWorking(0);
  const bool were_together = tuner_.chunks_are_made_together();
  const bool together = interval_.made_together + interval_.made_alone > 0
                            ? interval_.made_together > interval_.made_alone
                            : were_together || rounds > 0;
  if (together != were_together) {
    Log(tuner_.SetChunksAreMadeTogether(together));
  } else {
    Log(tuner_.Step({.seconds = static_cast<double>(elapsed) * 1e-9,
                     .waited_s = static_cast<double>(interval_.waited_ns) * 1e-9,
                     .worked_s = static_cast<double>(interval_.worked_ns) * 1e-9,
                     .cpu_share = cpu_share_.value(),
                     .elements = together ? rounds : interval_.elements}));
  }
  interval_ = {.began_ns = now, .rounds_before = rounds_made_};
  if (TooManyThreads()) turn_.NotifyAll();
}

void ReadAhead::Log(std::vector<Decision> decisions) {
  for (Decision& decision : decisions) {
    decision.stage = stats().name();
    pass().decisions().Add(std::move(decision));
  }
}

}  // namespace stoker
