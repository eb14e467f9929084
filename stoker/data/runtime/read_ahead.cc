#include "stoker/data/runtime/read_ahead.h"

#include <algorithm>
#include <new>
#include <utility>

#include "stoker/data/runtime/hop.h"

namespace stoker {
namespace {

constexpr int64_t kTuneEveryNs = 100'000'000;
// Where too few chunks come to judge by, the tuner waits for so long.
constexpr int64_t kTuneAtLatestNs = 1'000'000'000;
constexpr int64_t kChunksToJudgeBy = 2;  // for each thread
// Delivered in any order, chunks may be so many times the depth ahead of the slowest.
constexpr int64_t kAheadOfSlowest = 8;

// The automatic limit of threads for one stage: what sleeps on each element is worth so many.
constexpr int kMaxThreads = 64;

// A chunk may need such a part of the memory budget, so that each thread can have one.
constexpr int64_t kChunkShare = 16;

int64_t UnchargedBytesOf(const Chunk& chunk) {
  int64_t bytes = chunk.rows ? UnchargedBytes(chunk.rows->columns) : 0;
  for (const Element& element : chunk.elements) bytes += UnchargedBytes(element.arrays);
  return bytes;
}

// User code may throw; a worker must not. Runs `work` on `chunk`, or says in it what was thrown.
template <typename Work>
void Caught(Chunk& chunk, const Work& work) {
  const auto at = [&] { return chunk.begin + std::ssize(chunk.elements); };
  try {
    work();
  } catch (const std::bad_alloc&) {
    chunk.error = ResourceExhausted(
        "out of memory while reading element {}; lower the memory budget or the batch size", at());
  } catch (const std::exception& error) {
    chunk.error = Internal("an exception while reading element {}: {}", at(), error.what());
  } catch (...) {
    chunk.error =
        Internal("something that is no std::exception was thrown while reading element {}", at());
  }
}

}  // namespace

TunerLimits LimitsFor(const Runtime& runtime, const DatasetNode& node) {
  static const int cpus = AvailableCpus();  // it reads files
  int64_t depth = 0;
  for (const DatasetNode* stage : StagesOfHop(node)) {
    depth = std::max(depth, stage->read_ahead());
  }
  if (node.random_access()) depth = std::max<int64_t>(0, node.read_ahead());
  int64_t chunk = MaxChunkSize(node.spec());
  const auto too_large = [&] {
    return node.MemoryToRead(chunk).value_or(0) > runtime.memory_budget / kChunkShare;
  };
  while (chunk > 1 && too_large()) chunk /= 2;
  return {.threads = runtime.threads,
          .max_threads = kMaxThreads,
          .cpus = cpus,
          .chunk = runtime.chunk,
          .max_chunk = chunk,
          .depth = depth};
}

ReadAhead::ReadAhead(const OpenContext& context, const DatasetNode& node,
                     std::unique_ptr<ChunkSource> source, std::shared_ptr<StopFlag> inside,
                     const TunerLimits& limits, bool any_order)
    : Iterator(context, node, Counting::kElsewhere),
      inside_(std::move(inside)),
      source_(std::move(source)),
      any_order_(any_order),
      tuner_(limits),
      loops_([this] { OnLoopOpened(); }) {}

ReadAhead::~ReadAhead() {
  inside_->Raise();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  turn_.notify_all();
  room_.notify_all();
  pass().ledger().Recheck();
  crew_.Join();
}

// --- The consumer's side.

Result<std::optional<Element>> ReadAhead::DoNext() {
  STOKER_ASSIGN_OR_RETURN(const bool more, HaveElement());
  if (!more) return std::nullopt;
  if (!current_.lost.empty()) STOKER_RETURN_IF_ERROR(source_->Deliver(current_, used_of_current_));
  return current_.Take(used_of_current_++);
}

Result<std::optional<Rows>> ReadAhead::DoNextRows(int64_t most) {
  STOKER_ASSIGN_OR_RETURN(const bool more, HaveElement());
  if (!more) return std::nullopt;
  if (!current_.rows) return Iterator::DoNextRows(most);
  const int64_t begin = used_of_current_;
  used_of_current_ = std::min(current_.size(), begin + most);
  return current_.rows->Slice(begin, used_of_current_);
}

Result<bool> ReadAhead::HaveElement() {
  while (used_of_current_ == current_.size()) {
    if (!current_.error.ok()) return current_.error;
    if (consumed_ == end_ticket_) return false;
    STOKER_RETURN_IF_ERROR(NextChunk());
  }
  return true;
}

Status ReadAhead::NextChunk() {
  STOKER_RETURN_IF_ERROR(StartMissingThreads());
  delivered_ = DeliveredByNow();
  frontier_ = delivered_.frontier();
  current_ = Chunk();  // frees what the consumer has used up before it waits for more
  used_of_current_ = 0;
  {
    std::unique_lock lock(mutex_);
    stats().SampleQueue(std::ssize(finished_), tuner_.depth());
    const int64_t began = NowNs();
    if (!HasChunkForConsumer()) {
      const ScopedInputWait wait(pass());
      consumer_waits_ = true;
      chunk_ready_.wait(lock, [&] { return HasChunkForConsumer(); });
      consumer_waits_ = false;
      interval_.waited_ns += NowNs() - began;
    }
    const auto first = finished_.begin();
    const int64_t ticket = first->first;
    current_ = std::move(first->second);
    finished_.erase(first);
    consumed_tickets_.Add(ticket, ticket + 1);
    ++consumed_;
    if (current_.last) end_ticket_ = ticket + 1;
    interval_.elements += current_.size();
    ++interval_.chunks;
    TuneIfDue(NowNs());
  }
  current_.memory.ShrinkTo(0);  // from here on it is the consumer's
  room_.notify_one();
  pass().ledger().Recheck();  // another chunk is the one waited for now
  return OkStatus();
}

bool ReadAhead::HasChunkForConsumer() const {
  return !finished_.empty() && (any_order_ || finished_.begin()->first == consumed_);
}

bool ReadAhead::HasSomething() const {
  if (used_of_current_ < current_.size() || !current_.error.ok() || consumed_ == end_ticket_)
    return true;
  std::lock_guard lock(mutex_);
  return HasChunkForConsumer();
}

Status ReadAhead::StartMissingThreads() {
  int missing = 0;
  {
    std::lock_guard lock(mutex_);
    if (exhausted_ || running_ >= tuner_.threads()) return OkStatus();
    missing = tuner_.threads() - running_;
    running_ += missing;
    pass().CountThreads(running_);
  }
  const Status status = crew_.Start(missing, stats().name(), [this] { Work(); });
  if (status.ok()) return OkStatus();
  std::lock_guard lock(mutex_);
  running_ -= missing;
  if (running_ == 0) return status;
  Log({tuner_.LimitThreads(running_, status.message())});
  return OkStatus();
}

Delivered ReadAhead::DeliveredByNow() const {
  Delivered delivered = delivered_;
  delivered.Add(current_.begin, current_.begin + used_of_current_);
  return delivered;
}

Result<Json> ReadAhead::DoSave() const { return source_->SaveAfter(DeliveredByNow()); }

Status ReadAhead::DoRestore(const Json& state) {
  STOKER_ASSIGN_OR_RETURN(delivered_, source_->Restore(state));
  frontier_ = delivered_.frontier();
  return OkStatus();
}

// --- The workers' side.

void ReadAhead::Work() {
  CpuShare::Thread self;
  while (std::optional<Ticket> ticket = TakeTicket(self)) {
    const int64_t began = ticket->began_ns;
    {
      const SharedLoops::Member member(loops_, ticket->number);
      Caught(ticket->chunk, [&] { source_->Finish(ticket->chunk); });
      Publish(*std::move(ticket), member.asked_by_others());
    }
    const int64_t took = NowNs() - began;
    std::lock_guard lock(mutex_);
    cpu_share_.Add(took, self);
  }
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
    std::lock_guard lock(mutex_);
    CountWorking(+1);
  }
  // What the input's stages do in it is their time; the rest is waiting for them.
  const ScopedStageTime time(stats(), ScopedStageTime::Kind::kStarved);
  Chunk& chunk = ticket.chunk;
  Caught(chunk, [&] { source_->Take(ticket.wanted, frontier_, chunk); });
  PassTurn(chunk.last || !chunk.error.ok());
}

void ReadAhead::Help(CpuShare::Thread& self) {
  const int64_t began = NowNs();
  {
    std::lock_guard lock(mutex_);
    CountWorking(+1);
  }
  loops_.Help();
  std::lock_guard lock(mutex_);
  CountWorking(-1);
  cpu_share_.Add(NowNs() - began, self);
}

void ReadAhead::OnLoopOpened() {
  {
    std::lock_guard lock(mutex_);
    tuner_.ChunksAreMadeTogether();
  }
  turn_.notify_all();
  room_.notify_all();
  pass().ledger().Recheck();
}

// Whoever waits for its turn waits for what the others in front wait for: for the consumer and for
// memory while they are blocked, else for the input.
ReadAhead::Step ReadAhead::WaitForTurn() {
  const int64_t began = NowNs();
  const int64_t blocked_before = TurnsBlockedNs(began);
  Step next = Step::kGoOn;
  {
    std::unique_lock lock(mutex_);
    const auto ends = [&] { return stopping_ || TooManyThreads() || NothingLeft(); };
    const auto free = [&] { return !turn_taken_ && !exhausted_; };
    turn_.wait(lock, [&] { return free() || loops_.has_work() || ends(); });
    if (ends()) {
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
    std::lock_guard lock(mutex_);
    turn_taken_ = false;
    exhausted_ = exhausted_ || exhausted;
  }
  exhausted ? turn_.notify_all() : turn_.notify_one();
}

int64_t ReadAhead::TurnsBlockedNs(int64_t now) const {
  const int64_t since = turn_blocked_since_ns_;
  return turns_blocked_ns_ + (since == 0 ? 0 : std::max<int64_t>(0, now - since));
}

template <typename Wait>
auto ReadAhead::Blocked(const Wait& wait) {
  const int64_t began = NowNs();
  turn_blocked_since_ns_ = began;
  auto result = wait();
  const int64_t elapsed = NowNs() - began;
  turn_blocked_since_ns_ = 0;
  turns_blocked_ns_ += elapsed;
  stats().AddBlocked(elapsed);
  return result;
}

bool ReadAhead::HasRoom() const {
  const int64_t depth = tuner_.depth();
  return next_ticket_ - consumed_ < depth &&
         next_ticket_ - consumed_tickets_.frontier() < kAheadOfSlowest * depth;
}

ReadAhead::Step ReadAhead::WaitForRoom(Ticket& ticket) {
  std::unique_lock lock(mutex_);
  const auto may_go = [&] { return stopping_ || loops_.has_work() || HasRoom(); };
  if (!may_go()) {
    Blocked([&] {
      // A consumer that takes nothing does not look whether there are too many threads.
      while (tuner_.may_shrink()) {
        if (room_.wait_for(lock, std::chrono::nanoseconds(kTuneEveryNs), may_go)) return true;
        TuneIfDue(NowNs());
      }
      room_.wait(lock, may_go);
      return true;
    });
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
  // Nothing is known of the first chunk where the Specs do not tell: let it through alone. Where
  // others have been made since and have asked for nothing, their elements arrive charged.
  if (expected == 0 && !any_published_) expected = ledger.budget_bytes();
  if (ledger.bytes() + expected > ledger.budget_bytes()) pass().TrimPools();
  ticket.memory = Blocked([&] {
    return ledger.Admit(
        expected, [&] { return consumed_ == ticket.number; },
        [&] { return stopping_ || loops_.has_work(); });
  });
  ticket.asked_before = Scratch::BytesAskedByThisThread();
  if (ticket.memory.granted()) return Step::kGoOn;
  std::lock_guard lock(mutex_);
  --next_ticket_;  // whoever has the turn next takes it
  return stopping_ ? Step::kEnd : Step::kHelp;
}

void ReadAhead::Publish(Ticket ticket, int64_t asked_by_others) {
  Chunk& chunk = ticket.chunk;
  const int64_t uncharged = UnchargedBytesOf(chunk);
  const int64_t asked =
      Scratch::BytesAskedByThisThread() - ticket.asked_before + asked_by_others + uncharged;
  const int64_t made = std::max<int64_t>(1, chunk.size());
  const int64_t for_each = (asked + made - 1) / made;
  int64_t largest = largest_element_bytes_;
  while (for_each > largest && !largest_element_bytes_.compare_exchange_weak(largest, for_each)) {
  }
  any_published_ = true;
  chunk.memory = std::move(ticket.memory);
  chunk.memory.ShrinkTo(uncharged);
  {
    std::lock_guard lock(mutex_);
    CountWorking(-1);
    if (chunk.size() > 0) tuner_.AddChunk(chunk.size(), asked, NowNs() - ticket.began_ns);
    finished_.emplace(ticket.number, std::move(chunk));
    if (consumer_waits_ && HasChunkForConsumer()) chunk_ready_.notify_one();
  }
  if (doorbell_) doorbell_->Ring();
}

// --- The tuner's.

void ReadAhead::CountWorking(int change) {
  const int64_t now = NowNs();
  interval_.worked_ns += working_ * (now - working_since_ns_);
  working_since_ns_ = now;
  working_ += change;
  if (NothingLeft()) turn_.notify_all();
}

void ReadAhead::TuneIfDue(int64_t now) {
  if (interval_.began_ns == 0) {
    if (any_order_) {
      Log({{.what = "order", .why = "chunks are delivered as they finish (deterministic: false)"}});
    }
    Log(tuner_.FirstDecisions());
    interval_ = {.began_ns = now};
    return;
  }
  const int64_t elapsed = now - interval_.began_ns;
  if (elapsed < kTuneEveryNs) return;
  if (interval_.chunks < kChunksToJudgeBy * running_ && elapsed < kTuneAtLatestNs) return;
  CountWorking(0);
  Log(tuner_.Step({.seconds = static_cast<double>(elapsed) * 1e-9,
                   .waited_s = static_cast<double>(interval_.waited_ns) * 1e-9,
                   .worked_s = static_cast<double>(interval_.worked_ns) * 1e-9,
                   .cpu_share = cpu_share_.value(),
                   .elements = interval_.elements}));
  interval_ = {.began_ns = now};
  if (TooManyThreads()) turn_.notify_all();
}

void ReadAhead::Log(std::vector<Decision> decisions) {
  for (Decision& decision : decisions) {
    decision.stage = stats().name();
    pass().decisions().Add(std::move(decision));
  }
}

Status StartAhead(Iterator& iterator, std::shared_ptr<Doorbell> doorbell) {
  auto* const ahead = dynamic_cast<ReadAhead*>(&iterator);
  if (ahead == nullptr) return OkStatus();
  ahead->SetDoorbell(std::move(doorbell));
  return ahead->StartAhead();
}

bool HasSomething(const Iterator& iterator) {
  const auto* const ahead = dynamic_cast<const ReadAhead*>(&iterator);
  return ahead == nullptr || ahead->HasSomething();
}

}  // namespace stoker
