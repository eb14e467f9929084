// ReadAhead: the one place where the threaded runtime has threads. Workers make chunks of elements
// ahead of the consumer, as many as the depth and the memory budget allow; the consumer gets them
// in order, or as they are finished.
#pragma once

#include <atomic>
#include <condition_variable>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/data/runtime/chunk_source.h"
#include "stoker/data/runtime/crew.h"
#include "stoker/data/runtime/doorbell.h"
#include "stoker/data/runtime/shared_loops.h"
#include "stoker/data/runtime/tuner.h"

namespace stoker {

// How often the tuner looks.
inline constexpr int64_t kTuneEveryNs = 100'000'000;

// What the user has set for `node` and the stages of its hop, and what the machine and the Specs
// allow.
TunerLimits LimitsFor(const Runtime& runtime, const DatasetNode& node);

// Life of a chunk: a worker takes ticket t (in order, when less than `depth` chunks are on their
// way and the ledger admits it), finishes the chunk beside the other workers, and puts it among the
// finished ones. The consumer takes those in the order of their tickets, or in any. A chunk is
// exempt from the budget when the consumer has all before it, so one always comes.
//
// A chunk is admitted with all that buffers are asked for while it is made. Afterwards its buffers
// are charged themselves; only for those that are not (arrays that user code allocated) the
// admission stays until the consumer takes the chunk.
//
// While a chunk is made in a loop that is shared out (shared_loops.h), threads help there before
// they take tickets of their own.
//
// How many threads there are, and how much they read ahead, follows demand (tuner.h). The consumer
// starts threads; those that are too many end by themselves when it would be their turn.
class ReadAhead final : public Iterator {
 public:
  // `inside` is the flag that the source's own iterators look at; it is raised on destruction.
  // `any_order`: chunks are delivered as they are finished.
  ReadAhead(const OpenContext& context, const DatasetNode& node,
            std::unique_ptr<ChunkSource> source, std::shared_ptr<StopFlag> inside,
            const TunerLimits& limits, bool any_order);
  ~ReadAhead() override;

  // Starts the threads now rather than with the first Next. After Restore, if that is called.
  Status StartAhead() { return StartMissingThreads(); }
  // Whether Next would return without waiting for a thread.
  bool HasSomething() const;
  // Rung from now on whenever HasSomething may have become true. Before the threads start.
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
  // Takes the next ticket and its chunk, after helping with others; nothing if this thread is to
  // end.
  std::optional<Ticket> TakeTicket(CpuShare::Thread& self);
  // What a thread does next: it goes on, helps with chunks that others have taken, or ends.
  enum class Step { kGoOn, kHelp, kEnd };
  // Goes on with the turn; ends where there is nothing more to take, or one thread too many.
  Step WaitForTurn();
  void PassTurn(bool exhausted);
  // Gives `ticket` its number; then its memory. End where it is time to stop.
  Step WaitForRoom(Ticket& ticket);
  Step WaitForMemory(Ticket& ticket);
  // Takes the chunk, and passes the turn.
  void TakeChunk(Ticket& ticket);
  void Help(CpuShare::Thread& self);
  // Counts what the calling thread, one of the workers, has done since it last said so.
  void CountWork(CpuShare::Thread& self);
  void Publish(Ticket ticket, int64_t asked_by_others);
  // A loop has been opened: whoever waits may help.
  void OnLoopOpened();
  // The calling thread has made one round of a loop.
  void OnRoundMade();
  // How long those whose turn it was have been blocked so far, up to `now`.
  int64_t TurnsBlockedNs(int64_t now) const;
  // Runs `wait` and counts its time as blocked, for whose turn it is and for those behind.
  template <typename Wait>
  auto Blocked(const Wait& wait);

  // --- The consumer's side.
  // Makes sure that the current chunk has an element; false at the end of the pass.
  Result<bool> HaveElement();
  // Logs what was lost on the way up to element `number` of the current chunk.
  void LogLossesUpTo(int64_t number);
  // Waits until there is one to take. Lets the tuner look meanwhile: what all threads make together
  // may take long, and its rounds tell how it goes. `lock` holds mutex_.
  Status WaitForChunk(std::unique_lock<std::mutex>& lock);
  // The chunk after the current one, waiting for it if need be. Errors: those of starting threads.
  Status NextChunk();
  Status StartMissingThreads();
  // What the consumer has, the used part of the current chunk included.
  Delivered DeliveredByNow() const;

  // --- With mutex_ held.
  bool HasRoom() const;
  bool HasChunkForConsumer() const;
  bool TooManyThreads() const { return running_ > tuner_.threads(); }
  // Whether nothing is left to take, nor to help with.
  bool NothingLeft() const { return exhausted_ && working_ == 0; }
  void CountWorking(int change);
  void TuneIfDue(int64_t now);
  void Log(std::vector<Decision> decisions);

  const std::shared_ptr<StopFlag> inside_;
  const std::unique_ptr<ChunkSource> source_;
  const bool any_order_;
  std::shared_ptr<Doorbell> doorbell_;             // may be null
  std::atomic<int64_t> largest_element_bytes_{0};  // the most that making one has asked for so far
  std::atomic<bool> any_published_{false};         // whether a chunk has been finished
  std::atomic<int64_t> rounds_made_{0};            // of loops

  mutable std::mutex mutex_;  // guards what follows, up to the atomics
  std::condition_variable turn_, room_, chunk_ready_;
  Tuner tuner_;
  bool turn_taken_ = false;
  bool exhausted_ = false;  // a chunk that was last or failed has been taken
  int running_ = 0;         // threads that have not decided to end
  int64_t next_ticket_ = 0;
  std::map<int64_t, Chunk> finished_;  // by ticket
  Delivered consumed_tickets_;
  bool consumer_waits_ = false;
  struct {  // since the last look of the tuner
    int64_t began_ns = 0, waited_ns = 0, worked_ns = 0, elements = 0, chunks = 0;
    int64_t rounds_before = 0;  // made before it began
  } interval_;
  int working_ = 0;  // threads that make a chunk or help with one, since:
  int64_t working_since_ns_ = 0;
  CpuShare cpu_share_;

  // The time blocked so far, and since when it is now (0: it is not), of whose turn it is.
  std::atomic<int64_t> turns_blocked_ns_{0}, turn_blocked_since_ns_{0};
  std::atomic<int64_t> consumed_{0};  // tickets
  std::atomic<int64_t> frontier_{0};  // of what the consumer has
  std::atomic<bool> stopping_{false};

  // Used by the consumer alone.
  Chunk current_;
  int64_t used_of_current_ = 0;
  size_t logged_of_current_ = 0;
  Delivered delivered_;  // without current_
  int64_t end_ticket_ = std::numeric_limits<int64_t>::max();

  SharedLoops loops_;
  Crew crew_;  // last: its threads use all of the above
};

// For a stage that has several inputs ready at once. Has an iterator that reads ahead begin with
// it, before its first Next and after Restore; `doorbell`, if any, is rung when it has something.
// Others are left as they are. Errors: the system gives no thread.
Status StartAhead(Iterator& iterator, std::shared_ptr<Doorbell> doorbell = nullptr);
// Whether its Next would return without waiting for a thread; of others than those above, true.
bool HasSomething(const Iterator& iterator);

}  // namespace stoker
