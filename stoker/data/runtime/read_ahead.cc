#include "stoker/data/runtime/read_ahead.h"

#include <algorithm>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/groups_elements.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/runtime/hop.h"

namespace stoker {
namespace {

// The automatic limit of threads for one stage: what sleeps on each element is worth so many.
constexpr int kMaxThreads = 64;

// A chunk may need such a part of the memory budget, so that each thread can have one.
constexpr int64_t kChunkShare = 16;

// Whether `node` gives elements that are each made of several, as they are or as stages that hand
// on elements under their keys leave them.
bool GivesGroups(const DatasetNode& node) {
  const DatasetNode* at = &node;
  while (KeepsKeys(*at)) at = &at->input().node();
  return dynamic_cast<const GroupsElements*>(at) != nullptr;
}

}  // namespace

TunerLimits LimitsFor(const Runtime& runtime, const DatasetNode& node) {
  int64_t depth = 0;
  const std::vector<const DatasetNode*> hop = StagesOfHop(node);
  for (const DatasetNode* stage : hop) {
    depth = std::max(depth, stage->read_ahead());
  }
  if (node.random_access()) depth = std::max<int64_t>(0, node.read_ahead());
  int64_t chunk = MaxChunkSize(node.spec());
  const auto too_large = [&] {
    return node.MemoryToRead(chunk).value_or(0) > runtime.memory_budget / kChunkShare;
  };
  while (chunk > 1 && too_large()) chunk /= 2;
  // A chunk is handed on when all of it has been pulled. The next batch of a stream may take long
  // to come, so no finished one waits for it; a batch outweighs what a chunk of its own costs.
  if (!hop.empty() && GivesGroups(hop.front()->input().node())) chunk = 1;
  return {.threads = runtime.threads,
          .max_threads = kMaxThreads,
          .cpus = PipelineCpus(),
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
      loops_([this] { OnLoopOpened(); }, [this] { OnRoundMade(); }) {}

ReadAhead::~ReadAhead() {
  inside_->Raise();
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  turn_.NotifyAll();
  room_.NotifyAll();
  pass().ledger().Recheck();
  crew_.Join();
}

// --- The consumer's side.

Result<std::optional<Element>> ReadAhead::DoNext() {
  STOKER_ASSIGN_OR_RETURN(const bool more, HaveElement());
  if (!more) return std::nullopt;
  LogLossesUpTo(used_of_current_);
  if (!current_.lost.empty()) STOKER_RETURN_IF_ERROR(source_->Deliver(current_, used_of_current_));
  return current_.Take(used_of_current_++);
}

Result<std::optional<Rows>> ReadAhead::DoNextRows(int64_t most) {
  STOKER_ASSIGN_OR_RETURN(const bool more, HaveElement());
  if (!more) return std::nullopt;
  if (!current_.rows) return Iterator::DoNextRows(most);
  const int64_t begin = used_of_current_;
  used_of_current_ = std::min(current_.size(), begin + most);
  LogLossesUpTo(used_of_current_ - 1);
  return current_.rows->Slice(begin, used_of_current_);
}

Result<bool> ReadAhead::HaveElement() {
  while (used_of_current_ == current_.size()) {
    LogLossesUpTo(used_of_current_);
    if (!current_.error.ok()) return current_.error;
    if (consumed_ == end_ticket_) return false;
    STOKER_RETURN_IF_ERROR(NextChunk());
  }
  return true;
}

void ReadAhead::LogLossesUpTo(int64_t number) {
  std::vector<std::pair<int64_t, LossLine>>& log = current_.log;
  for (; logged_of_current_ < log.size() && log[logged_of_current_].first <= number;
       ++logged_of_current_)
    LossScope::Add(std::move(log[logged_of_current_].second));
}

Status ReadAhead::NextChunk() {
  STOKER_RETURN_IF_ERROR(StartMissingThreads());
  delivered_ = DeliveredByNow();
  frontier_ = delivered_.frontier();
  current_ = Chunk();  // frees what the consumer has used up before it waits for more
  used_of_current_ = 0;
  logged_of_current_ = 0;
  {
    const MutexLock lock(mutex_);
    stats().SampleQueue(std::ssize(finished_), tuner_.depth());
    TraceCount(stats().trace_name(), TraceKind::kQueue, std::ssize(finished_));
    if (!HasChunkForConsumer()) STOKER_RETURN_IF_ERROR(WaitForChunk());
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
  room_.NotifyOne();
  pass().ledger().Recheck();  // another chunk is the one waited for now
  return OkStatus();
}

Status ReadAhead::WaitForChunk() {
  const ScopedInputWait wait(pass());
  consumer_waits_ = true;
  Status status = OkStatus();
  const auto is_there = [this]() STOKER_REQUIRES(mutex_) { return HasChunkForConsumer(); };
  for (bool ready = false; !ready && status.ok();) {
    const int64_t began = NowNs();
    const auto longest = std::min<std::chrono::nanoseconds>(StopScope::Interval(),
                                                            std::chrono::nanoseconds(kTuneEveryNs));
    ready = chunk_ready_.WaitFor(mutex_, longest, is_there);
    interval_.waited_ns += NowNs() - began;
    if (ready) break;
    // The chunk stays where it is being made: the pass still stands before it.
    if (StopScope::Asked()) status = AskedToStop(stats().name());
    // A chunk that one thread makes says nothing before it is finished.
    const bool has_rounds = rounds_made_ > interval_.rounds_before;
    if (!status.ok() || (!tuner_.chunks_are_made_together() && !has_rounds)) continue;
    TuneIfDue(NowNs());
    const MutexUnlock meanwhile(mutex_);
    status = StartMissingThreads();
  }
  consumer_waits_ = false;
  return status;
}

bool ReadAhead::HasChunkForConsumer() const {
  return !finished_.empty() && (any_order_ || finished_.begin()->first == consumed_);
}

bool ReadAhead::HasSomething() const {
  if (used_of_current_ < current_.size() || !current_.error.ok() || consumed_ == end_ticket_)
    return true;
  const MutexLock lock(mutex_);
  return HasChunkForConsumer();
}

Status ReadAhead::StartMissingThreads() {
  int missing = 0;
  {
    const MutexLock lock(mutex_);
    // Other threads can also work on parts of the last chunk.
    const bool nothing_to_do = exhausted_ && !loops_.has_work();
    if (nothing_to_do || running_ >= tuner_.threads()) return OkStatus();
    missing = tuner_.threads() - running_;
    running_ += missing;
    pass().CountThreads(running_);
  }
  const Status status = crew_.Start(missing, stats().name(), [this] { Work(); });
  if (status.ok()) return OkStatus();
  const MutexLock lock(mutex_);
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
