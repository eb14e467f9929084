#include "stoker/data/runtime/read_ahead.h"

#include <algorithm>
#include <new>

namespace stoker {
namespace {

// Chunks in flight: enough that each worker has one in hand and one waiting.
int64_t Depth(const DatasetNode& node, int threads) {
  const int64_t automatic = 2 * static_cast<int64_t>(threads) + 1;
  const int64_t asked = node.read_ahead();
  if (asked <= 0) return automatic;
  const int64_t chunk = ChunkSize(node.spec());
  return (asked + chunk - 1) / chunk + threads;  // kept ready, and being made
}

// Of what is charged to no account.
int64_t UnchargedBytes(const Chunk& chunk) {
  int64_t bytes = 0;
  for (const Element& element : chunk.elements) {
    for (const Array& array : element.arrays) {
      if (!array.buffer().charged()) bytes += static_cast<int64_t>(array.num_bytes());
    }
  }
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

ReadAhead::ReadAhead(const OpenContext& context, const DatasetNode& node,
                     std::unique_ptr<ChunkSource> source, std::shared_ptr<StopFlag> inside,
                     int threads)
    : Iterator(context, node, Counting::kElsewhere),
      inside_(std::move(inside)),
      source_(std::move(source)),
      known_chunk_bytes_(source_->chunk_memory().value_or(0)),
      slots_(static_cast<size_t>(Depth(node, threads))),
      threads_(threads) {}

ReadAhead::~ReadAhead() {
  inside_->Raise();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  pass().ledger().Recheck();
  workers_.Join();
}

Result<std::optional<Element>> ReadAhead::DoNext() {
  while (used_of_current_ == current_.elements.size()) {
    if (!current_.error.ok()) return current_.error;
    if (current_.last) return std::nullopt;
    STOKER_RETURN_IF_ERROR(NextChunk());
  }
  if (!current_.lost.empty()) STOKER_RETURN_IF_ERROR(source_->Deliver(current_, used_of_current_));
  ++delivered_;
  return std::move(current_.elements[used_of_current_++]);
}

Status ReadAhead::StartAhead() {
  if (started_) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(workers_,
                          WorkerGroup::Start(threads_, stats().name(), [this](int) { Work(); }));
  started_ = true;
  return OkStatus();
}

Status ReadAhead::NextChunk() {
  STOKER_RETURN_IF_ERROR(StartAhead());
  current_ = Chunk();  // frees what the consumer has used up before it waits for more
  used_of_current_ = 0;
  {
    std::unique_lock lock(mutex_);
    stats().SampleQueue(ready_, std::ssize(slots_));
    std::optional<Chunk>& slot = slots_[static_cast<size_t>(head_ % std::ssize(slots_))];
    if (!slot) {
      const ScopedInputWait wait(pass());
      chunk_ready_.wait(lock, [&] { return slot.has_value(); });
    }
    current_ = *std::move(slot);
    slot.reset();
    --ready_;
    ++head_;
  }
  current_.memory.ShrinkTo(0);  // from here on it is the consumer's
  room_.notify_one();
  pass().ledger().Recheck();  // another chunk is the one waited for now
  return OkStatus();
}

void ReadAhead::Work() {
  while (std::optional<Ticket> ticket = TakeTicket()) {
    Caught(ticket->chunk, [&] { source_->Finish(ticket->chunk); });
    Publish(*std::move(ticket));
  }
}

std::optional<ReadAhead::Ticket> ReadAhead::TakeTicket() {
  const std::unique_lock turn = WaitForTurn();
  if (exhausted_ || !WaitForRoom(next_ticket_)) return std::nullopt;
  Ledger::Admission memory = WaitForMemory(next_ticket_);
  if (!memory.granted()) return std::nullopt;
  Ticket ticket{.number = next_ticket_++,
                .chunk = {},
                .memory = std::move(memory),
                .asked_before = Scratch::BytesAskedByThisThread()};
  // What the input's stages do in it is their time; the rest is waiting for them.
  const ScopedStageTime time(stats(), ScopedStageTime::Kind::kStarved);
  Caught(ticket.chunk, [&] { source_->Take(delivered_, ticket.chunk); });
  exhausted_ = ticket.chunk.last || !ticket.chunk.error.ok();
  return ticket;
}

// Whoever waits for its turn waits for what the others in front wait for: for the consumer and for
// memory while they are blocked, else for the input.
std::unique_lock<std::mutex> ReadAhead::WaitForTurn() {
  const int64_t began = NowNs();
  const int64_t blocked_before = TurnsBlockedNs(began);
  std::unique_lock turn(take_mutex_);
  const int64_t now = NowNs();
  // The two figures are not read at one moment, hence the limits.
  const int64_t blocked = std::clamp<int64_t>(TurnsBlockedNs(now) - blocked_before, 0, now - began);
  stats().AddBlocked(blocked);
  stats().AddStarved(now - began - blocked);
  return turn;
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

bool ReadAhead::WaitForRoom(int64_t ticket) {
  std::unique_lock lock(mutex_);
  const auto may_go = [&] { return stopping_ || ticket - head_ < std::ssize(slots_); };
  if (may_go()) return !stopping_;
  return Blocked([&] {
    room_.wait(lock, may_go);
    return !stopping_;
  });
}

Ledger::Admission ReadAhead::WaitForMemory(int64_t ticket) {
  Ledger& ledger = pass().ledger();
  int64_t expected = std::max(known_chunk_bytes_, largest_chunk_bytes_.load());
  // Nothing is known of the first chunk where the Specs do not tell: let it through alone. Where
  // others have been made since and have asked for nothing, their elements arrive charged.
  if (expected == 0 && !any_published_) expected = ledger.budget_bytes();
  if (ledger.bytes() + expected > ledger.budget_bytes()) pass().TrimPools();
  return Blocked([&] {
    return ledger.Admit(
        expected, [&] { return head_ == ticket; }, [&] { return stopping_.load(); });
  });
}

void ReadAhead::Publish(Ticket ticket) {
  Chunk& chunk = ticket.chunk;
  const int64_t uncharged = UnchargedBytes(chunk);
  const int64_t asked = Scratch::BytesAskedByThisThread() - ticket.asked_before + uncharged;
  int64_t largest = largest_chunk_bytes_;
  while (asked > largest && !largest_chunk_bytes_.compare_exchange_weak(largest, asked)) {
  }
  any_published_ = true;
  chunk.memory = std::move(ticket.memory);
  chunk.memory.ShrinkTo(uncharged);
  std::lock_guard lock(mutex_);
  slots_[static_cast<size_t>(ticket.number % std::ssize(slots_))] = std::move(chunk);
  ++ready_;
  if (ticket.number == head_) chunk_ready_.notify_one();
}

Result<Json> ReadAhead::DoSave() const { return source_->SaveAfter(delivered_); }

Status ReadAhead::DoRestore(const Json& state) { return source_->Restore(state); }

Status StartAhead(Iterator& iterator) {
  auto* const ahead = dynamic_cast<ReadAhead*>(&iterator);
  return ahead == nullptr ? OkStatus() : ahead->StartAhead();
}

}  // namespace stoker
