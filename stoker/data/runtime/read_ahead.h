// ReadAhead: owns the threads of the threaded runtime. Workers make chunks of elements ahead of the
// consumer, as many as the depth and the memory budget allow; the consumer gets them in order, or
// as they finish.
#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/data/core/shared_loops.h"
#include "stoker/data/runtime/chunk_source.h"
#include "stoker/data/runtime/crew.h"
#include "stoker/data/runtime/doorbell.h"
#include "stoker/data/runtime/tuner.h"

namespace stoker {

// The interval of the tuner.
inline constexpr int64_t kTuneEveryNs = 100'000'000;

// Returns the user's settings for `node` and the stages of its hop, and the limits of the machine
// and the Specs.
TunerLimits LimitsFor(const Runtime& runtime, const DatasetNode& node);

// Life of a chunk: a worker takes ticket t (in order, when fewer than `depth` chunks are in flight
// and the ledger admits it), finishes the chunk concurrently with the other workers, and adds it to
// the finished ones. The consumer takes those in the order of their tickets, or in any order. A
// chunk is exempt from the budget when the consumer has all chunks before it, so the pass always
// progresses.
//
// The admission of a chunk covers all buffers requested while it is made. Afterwards its buffers
// themselves are charged; for uncharged ones (arrays that user code allocated) the admission stays
// until the consumer takes the chunk.
//
// While a chunk is made in a shared loop (shared_loops.h), threads help there before they take new
// tickets.
//
// The number of threads and the depth adapt to demand (tuner.h). The consumer starts threads;
// excess threads end when their turn comes.
class ReadAhead final : public Iterator {
 public:
  // `inside` is the stop flag of the source's own iterators; the destructor raises it. `any_order`:
  // chunks are delivered as they are finished.
  ReadAhead(const OpenContext& context, const DatasetNode& node,
            std::unique_ptr<ChunkSource> source, std::shared_ptr<StopFlag> inside,
            const TunerLimits& limits, bool any_order);
  ~ReadAhead() override;

  // Starts the threads now rather than at the first Next. Call it after Restore, if that is called.
  Status StartAhead() { return StartMissingThreads(); }
  // Returns whether Next would return without waiting for a thread.
  bool HasSomething() const;
  // Sets the doorbell to ring whenever HasSomething may have become true. Call it before the
  // threads start.
  void SetDoorbell(std::shared_ptr<Doorbell> doorbell) { doorbell_ = std::move(doorbell); }

 private:
  Result<std::optional<Element>> DoNext() override;
  Result<std::optional<Rows>> DoNextRows(int64_t most) override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  // --- The workers' side.
  struct Ticket {
    int64_t number;
    int64_t wanted;            // elements
    Ledger::Admission memory;  // held until the chunk's own buffers are all charged
    Chunk chunk;
    int64_t asked_before;  // bytes, by this thread, when it took the ticket
    int64_t began_ns;
  };
  void Work();
  // Takes the next ticket and its chunk, after helping with others; returns nothing if this thread
  // is to end.
  std::optional<Ticket> TakeTicket(CpuShare::Thread& self);
  // What a thread does next: continue, help with chunks that others have taken, or end.
  enum class Step { kGoOn, kHelp, kEnd };
  // Waits for the turn. kEnd if there is nothing more to take, or one thread too many.
  Step WaitForTurn();
  void PassTurn(bool exhausted);
  // Assigns `ticket` its number, then its memory. kEnd if it is time to stop.
  Step WaitForRoom(Ticket& ticket);
  Step WaitForMemory(Ticket& ticket);
  // Takes the chunk, and passes the turn.
  void TakeChunk(Ticket& ticket);
  void Help(CpuShare::Thread& self);
  // Counts the work of the calling worker since its last call.
  void CountWork(CpuShare::Thread& self);
  void Publish(Ticket ticket, const SharedLoops::Member& member);
  // Called when a loop has been opened: waiting threads may help.
  void OnLoopOpened();
  // Called when the calling thread has run one round of a loop.
  void OnRoundMade();
  // Returns how long threads with the turn have been blocked, up to `now`.
  int64_t TurnsBlockedNs(int64_t now) const;
  // While one lives, its time counts as blocked, for the thread with the turn and those waiting for
  // it.
  class BlockedTurn;

  // --- The consumer's side. Ensures that the current chunk has an element; returns false at the
  // end of the pass.
  Result<bool> HaveElement();
  // Logs the losses up to element `number` of the current chunk.
  void LogLossesUpTo(int64_t number);
  // Waits until there is a chunk to take. Runs the tuner meanwhile, because a chunk that all
  // threads make together may take long, and its rounds show progress.
  Status WaitForChunk() STOKER_REQUIRES(mutex_);
  // Moves to the next chunk, waiting if necessary. Errors: those of starting threads.
  Status NextChunk();
  Status StartMissingThreads();
  // Returns what the consumer has, including the used part of the current chunk.
  Delivered DeliveredByNow() const;

  bool HasRoom() const STOKER_REQUIRES(mutex_);
  // Returns whether a thread that waits for room goes on: with a ticket, to help, or to end.
  bool MayLeaveRoomWait() const STOKER_REQUIRES(mutex_) {
    return stopping_ || loops_.has_work() || HasRoom();
  }
  bool HasChunkForConsumer() const STOKER_REQUIRES(mutex_);
  bool TooManyThreads() const STOKER_REQUIRES(mutex_) { return running_ > tuner_.threads(); }
  // Returns whether nothing is left to take or to help with.
  bool NothingLeft() const STOKER_REQUIRES(mutex_) { return exhausted_ && working_ == 0; }
  // Returns whether the calling worker must end.
  bool MustEnd() const STOKER_REQUIRES(mutex_) {
    return stopping_ || TooManyThreads() || NothingLeft();
  }
  void CountWorking(int change) STOKER_REQUIRES(mutex_);
  void TuneIfDue(int64_t now) STOKER_REQUIRES(mutex_);
  void Log(std::vector<Decision> decisions);

  const std::shared_ptr<StopFlag> inside_;
  const std::unique_ptr<ChunkSource> source_;
  const bool any_order_;
  std::shared_ptr<Doorbell> doorbell_;             // may be null
  std::atomic<int64_t> largest_element_bytes_{0};  // the most memory requested for one so far
  std::atomic<bool> any_published_{false};         // whether a chunk has been finished
  std::atomic<int64_t> rounds_made_{0};            // of loops

  mutable Mutex mutex_;
  CondVar turn_, room_, chunk_ready_;
  Tuner tuner_ STOKER_GUARDED_BY(mutex_);
  bool turn_taken_ STOKER_GUARDED_BY(mutex_) = false;
  bool exhausted_ STOKER_GUARDED_BY(mutex_) =
      false;                                   // a chunk that was last or failed has been taken
  int running_ STOKER_GUARDED_BY(mutex_) = 0;  // threads that have not decided to end
  int64_t next_ticket_ STOKER_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, Chunk> finished_ STOKER_GUARDED_BY(mutex_);  // by ticket
  Delivered consumed_tickets_ STOKER_GUARDED_BY(mutex_);
  bool consumer_waits_ STOKER_GUARDED_BY(mutex_) = false;
  struct {  // since the last step of the tuner
    int64_t began_ns = 0, waited_ns = 0, worked_ns = 0, elements = 0, chunks = 0;
    int64_t made_together = 0, made_alone = 0;  // chunks, by whether threads shared their work
    int64_t rounds_before = 0;                  // made before it began
  } interval_ STOKER_GUARDED_BY(mutex_);
  int working_ STOKER_GUARDED_BY(mutex_) = 0;  // threads that make a chunk or help with one, since:
  int64_t working_since_ns_ STOKER_GUARDED_BY(mutex_) = 0;
  CpuShare cpu_share_ STOKER_GUARDED_BY(mutex_);

  // The blocked time of threads with the turn so far, and the start of the current wait (0: none).
  std::atomic<int64_t> turns_blocked_ns_{0}, turn_blocked_since_ns_{0};
  std::atomic<int64_t> consumed_{0};  // tickets
  std::atomic<int64_t> frontier_{0};  // of the consumer
  std::atomic<bool> stopping_{false};

  // Used only by the consumer.
  Chunk current_;
  int64_t used_of_current_ = 0;
  size_t logged_of_current_ = 0;
  Delivered delivered_;  // without current_
  int64_t end_ticket_ = std::numeric_limits<int64_t>::max();

  SharedLoops loops_;
  Crew crew_;  // last: its threads use all of the above
};

// For a stage with several concurrent inputs. Makes an iterator that reads ahead start, before its
// first Next and after Restore; `doorbell`, if any, is rung when it has an element. Does nothing to
// other iterators. Errors: the system cannot create a thread.
Status StartAhead(Iterator& iterator, std::shared_ptr<Doorbell> doorbell = nullptr);
// Returns whether its Next would return without waiting for a thread; true for iterators that do
// not read ahead.
bool HasSomething(const Iterator& iterator);

}  // namespace stoker
