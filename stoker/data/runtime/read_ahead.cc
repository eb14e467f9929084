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

std::optional<int64_t> KnownChunkBytes(const Spec& spec) {
  const std::optional<int64_t> bytes = spec.ElementBytes();
  if (!bytes) return std::nullopt;
  return *bytes * ChunkSize(spec);
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
                     std::unique_ptr<ChunkSource> source, int threads)
    : Iterator(context, node, Counting::kElsewhere),
      source_(std::move(source)),
      known_chunk_bytes_(KnownChunkBytes(node.spec())),
      slots_(static_cast<size_t>(Depth(node, threads))),
      threads_(threads) {}

ReadAhead::~ReadAhead() {
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
  ++delivered_;
  return std::move(current_.elements[used_of_current_++]);
}

Status ReadAhead::NextChunk() {
  if (head_ == 0) {
    STOKER_ASSIGN_OR_RETURN(
        workers_, WorkerGroup::Start(threads_, stats().name(), [this](int) { Work(); }));
  }
  {
    std::unique_lock lock(mutex_);
    stats().SampleQueue(ready_, std::ssize(slots_));
    std::optional<Chunk>& slot = slots_[static_cast<size_t>(head_ % std::ssize(slots_))];
    if (!slot) {
      const ScopedStageTime time(stats(), ScopedStageTime::Kind::kStarved);
      chunk_ready_.wait(lock, [&] { return slot.has_value(); });
    }
    current_ = *std::move(slot);
    slot.reset();
    --ready_;
    ++head_;
  }
  used_of_current_ = 0;
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
  const int64_t wait_began = NowNs();
  std::lock_guard lock(take_mutex_);
  (source_->takes_from_input() ? stats().AddStarved(NowNs() - wait_began)
                               : stats().AddBlocked(NowNs() - wait_began));
  if (exhausted_ || !WaitForRoom(next_ticket_)) return std::nullopt;
  Ledger::Admission memory = WaitForMemory(next_ticket_);
  if (!memory.granted()) return std::nullopt;
  Ticket ticket{.number = next_ticket_++, .chunk = {}, .memory = std::move(memory)};
  Caught(ticket.chunk, [&] { ticket.chunk = source_->Take(delivered_); });
  exhausted_ = ticket.chunk.last || !ticket.chunk.error.ok();
  return ticket;
}

bool ReadAhead::WaitForRoom(int64_t ticket) {
  std::unique_lock lock(mutex_);
  const auto may_go = [&] { return stopping_ || ticket - head_ < std::ssize(slots_); };
  if (!may_go()) {
    const ScopedStageTime time(stats(), ScopedStageTime::Kind::kBlocked);
    room_.wait(lock, may_go);
  }
  return !stopping_;
}

Ledger::Admission ReadAhead::WaitForMemory(int64_t ticket) {
  Ledger& ledger = pass().ledger();
  const int64_t seen = largest_chunk_bytes_;
  // Nothing is known of the first element's size where the Spec does not tell: let it through
  // alone.
  const int64_t expected = known_chunk_bytes_ ? *known_chunk_bytes_
                           : seen > 0         ? seen
                                              : ledger.budget_bytes();
  if (ledger.bytes() + expected > ledger.budget_bytes()) pass().TrimPools();
  const ScopedStageTime time(stats(), ScopedStageTime::Kind::kBlocked);
  return ledger.Admit(
      expected, [&] { return head_ == ticket; }, [&] { return stopping_.load(); });
}

void ReadAhead::Publish(Ticket ticket) {
  int64_t bytes = 0;
  for (const Element& element : ticket.chunk.elements) bytes += element.num_bytes();
  int64_t largest = largest_chunk_bytes_;
  while (bytes > largest && !largest_chunk_bytes_.compare_exchange_weak(largest, bytes)) {
  }
  std::lock_guard lock(mutex_);
  slots_[static_cast<size_t>(ticket.number % std::ssize(slots_))] = std::move(ticket.chunk);
  ++ready_;
  if (ticket.number == head_) chunk_ready_.notify_one();
}

Result<Json> ReadAhead::DoSave() const { return source_->SaveAfter(delivered_); }

Status ReadAhead::DoRestore(const Json& state) { return source_->Restore(state); }

}  // namespace stoker
