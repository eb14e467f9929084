// The work of a ReadAhead's threads: chunks of consecutive elements, from a dataset read by
// position or from a stream. A chunk is one element if elements are large or slow to make, and many
// if they are tiny, so that passing it between threads is worth its cost.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/delivered.h"
#include "stoker/data/runtime/failure_tally.h"
#include "stoker/data/runtime/hop.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

// Consecutive elements of a pass, and what follows them: more chunks, an error, or the end.
struct Chunk {
  int64_t begin = 0;  // position of the first, and how many are wanted; set by Take
  int64_t count = 0;
  // The results, in one of two forms. Rows become elements when the consumer takes them: this is
  // quick, and one thread allocates and frees their small blocks.
  std::vector<Element> elements;
  std::optional<Rows> rows;
  // The elements lost before each of them, with its number in the chunk; in order.
  std::vector<std::pair<int64_t, LostElement>> lost;
  // The losses while they were pulled, with the number of the next element (or their count, before
  // the end or an error); in order.
  std::vector<std::pair<int64_t, LossLine>> log;
  Status error;       // follows them
  bool last = false;  // nothing follows
  // Reserves their memory that is charged to no account, until the consumer has the chunk.
  Ledger::Admission memory;

  int64_t size() const { return rows ? rows->size() : std::ssize(elements); }
  // Returns element i < size(). Call it once for each.
  Element Take(int64_t i) {
    return rows ? rows->RowElement(i) : std::move(elements[static_cast<size_t>(i)]);
  }
};

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // The sequential part: fills `chunk`, which is new, with at most `wanted` > 0 elements. Called by
  // one thread at a time; not after a chunk that is last or failed. `frontier`: the consumer has
  // all elements before it.
  virtual void Take(int64_t wanted, int64_t frontier, Chunk& chunk) = 0;
  // The concurrent part, on many threads. If this or Take throws, the chunk holds the good elements
  // and nothing after them.
  virtual void Finish(Chunk& chunk) const = 0;

  // Returns an upper bound of the bytes of buffers for taking and finishing a chunk of `count`;
  // nothing if the Specs do not determine it.
  virtual std::optional<int64_t> MemoryToMake(int64_t count) const = 0;

  // Called by the consumer before it returns element `number` of a chunk with losses. An error ends
  // the pass here instead.
  virtual Status Deliver(const Chunk& /*chunk*/, int64_t /*number*/) { return OkStatus(); }

  // Returns the state that continues with the elements missing in `delivered`; may be called while
  // other threads work.
  virtual Result<Json> SaveAfter(const Delivered& delivered) = 0;
  // Called before the first Take. Returns what the consumer had when `state` was saved.
  virtual Result<Delivered> Restore(const Json& state) = 0;
};

// Returns the most elements of this Spec in a chunk. Large ones (kLargeElementBytes, tuner.h) are
// made one by one, small ones column by column.
int64_t MaxChunkSize(const Spec& spec);

// Chunks of a dataset that is read by position: Take counts, Finish reads.
class PositionSource final : public ChunkSource {
 public:
  PositionSource(const OpenContext& context, const DatasetNode& node)
      : pass_(context.pass()),
        node_(node),
        stop_(context.stop()),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()),
        tally_(*pass_) {}

  void Take(int64_t wanted, int64_t frontier, Chunk& chunk) override;
  void Finish(Chunk& chunk) const override;
  std::optional<int64_t> MemoryToMake(int64_t count) const override {
    return node_.MemoryToRead(count);
  }
  Status Deliver(const Chunk& chunk, int64_t number) override;
  Result<Json> SaveAfter(const Delivered& delivered) override;
  Result<Delivered> Restore(const Json& state) override;

 private:
  Status ReadAll(Chunk& chunk) const;
  Status ReadOneByOne(Chunk& chunk, const ReadContext& context) const;

  const std::shared_ptr<Pass> pass_;
  const DatasetNode& node_;
  const std::shared_ptr<const StopFlag> stop_;
  const bool tolerant_;
  uint64_t epoch_;
  Delivered before_;  // what had been delivered when this pass began
  int64_t next_ = 0;
  FailureTally tally_;
};

// Chunks of a stream: Take pulls the input, Finish applies the maps that follow it. Positions count
// the elements pulled since the restored state, or since the start.
//
// A position in a stream is a state of its iterator, which may be large, so it is saved only
// occasionally: SaveAfter returns the newest saved state that is not ahead of the consumer, and the
// number of elements to read again from there.
class StreamSource final : public ChunkSource {
 public:
  // Opens the stream of `node`, which passes its input on unchanged or maps elements one by one,
  // together with the directly preceding stages of that kind.
  static Result<std::unique_ptr<StreamSource>> Open(const OpenContext& context,
                                                    const DatasetNode& node);

  // Returns whether chunks may be delivered in the order in which they finish.
  bool any_order() const { return any_order_; }
  // Returns whether Finish does any work.
  bool maps() const { return maps_; }

  void Take(int64_t wanted, int64_t frontier, Chunk& chunk) override;
  void Finish(Chunk& chunk) const override;
  std::optional<int64_t> MemoryToMake(int64_t count) const override {
    return node_.MemoryToRead(count);
  }
  Result<Json> SaveAfter(const Delivered& delivered) override;
  Result<Delivered> Restore(const Json& state) override;

 private:
  struct Snapshot {
    int64_t taken;  // elements pulled before it
    Json input;
  };

  StreamSource(const OpenContext& context, const DatasetNode& node)
      : pass_(context.pass()), node_(node), stop_(context.stop()), tolerant_(context.tolerant()) {}
  // Finishes a chunk column by column; returns false, with `chunk` unchanged, if that is
  // impossible.
  bool FinishAsRows(Chunk& chunk) const;
  // Returns the next element of the input, after saving the input's state if that is due.
  Result<std::optional<Element>> Pull();
  Status SaveInputIfDue();
  // Frees the saved states that are unnecessary once the consumer has all elements before
  // `frontier`.
  void DropPassed(int64_t frontier) STOKER_REQUIRES(mutex_);

  const std::shared_ptr<Pass> pass_;
  const DatasetNode& node_;
  const std::shared_ptr<const StopFlag> stop_;
  const bool tolerant_;
  std::vector<const DatasetNode*> stages_;  // first applied first
  bool any_order_ = false;
  bool maps_ = false;
  std::vector<HopPart> parts_;  // of them all
  bool by_rows_ = false;        // chunks are made column by column
  std::unique_ptr<Iterator> input_;
  SnapshotPace pace_ = SnapshotPace::BeforeEach();
  int64_t taken_ = 0;                // elements pulled since the restored state
  std::optional<int64_t> saved_at_;  // taken_, at the newest of snapshots_
  Delivered before_;                 // of them, what had been delivered when this pass began

  Mutex mutex_;
  std::deque<Snapshot> snapshots_ STOKER_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace stoker
