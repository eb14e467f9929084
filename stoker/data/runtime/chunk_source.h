// What the workers of a ReadAhead work on: chunks of consecutive elements, from a dataset read by
// position or from a stream. A chunk is one element where elements are large or slow to make, and
// many where they are tiny, so that a hop between threads pays for enough work.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/delivered.h"
#include "stoker/data/runtime/failure_tally.h"
#include "stoker/data/runtime/hop.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

// Consecutive elements of a pass, and what comes after them: more chunks, an error, or the end.
struct Chunk {
  int64_t begin = 0;  // position of the first, and how many are wanted; set by Take
  int64_t count = 0;
  // What has been made, in one of two forms. Rows become elements only when the consumer takes
  // them: that is quick, and their small blocks then come from and go back to one thread.
  std::vector<Element> elements;
  std::optional<Rows> rows;
  // What was lost on the way to them, with the number of the element among them; in their order.
  std::vector<std::pair<int64_t, LostElement>> lost;
  // What was lost while they were pulled, with the number of the element that it was lost on the
  // way to (or of how many there are, where that was the end or an error); in their order.
  std::vector<std::pair<int64_t, LossLine>> log;
  Status error;       // found after them
  bool last = false;  // nothing comes after
  // What they hold that is charged to no account, reserved until the consumer has the chunk.
  Ledger::Admission memory;

  int64_t size() const { return rows ? rows->size() : std::ssize(elements); }
  // Element i < size(); each is taken once.
  Element Take(int64_t i) {
    return rows ? rows->RowElement(i) : std::move(elements[static_cast<size_t>(i)]);
  }
};

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // The part that must happen in order: fills `chunk`, which is new, with at most `wanted` > 0
  // elements. Called by one thread at a time; not after a chunk that is last or failed. `frontier`:
  // the consumer has all elements before it by now.
  virtual void Take(int64_t wanted, int64_t frontier, Chunk& chunk) = 0;
  // The part that may happen at any time, on many threads at once. Where this or Take throws, the
  // chunk holds the elements that are good, and nothing after them.
  virtual void Finish(Chunk& chunk) const = 0;

  // At most so many bytes of buffers are asked for to take and finish a chunk of `count`; nothing
  // where the Specs do not tell.
  virtual std::optional<int64_t> MemoryToMake(int64_t count) const = 0;

  // Called before element `number` of a chunk that has lost some is handed out, by the consumer.
  // Errors: it must not be, and the pass ends here.
  virtual Status Deliver(const Chunk& /*chunk*/, int64_t /*number*/) { return OkStatus(); }

  // The state that continues with what is missing in `delivered`; may be called while other threads
  // work.
  virtual Result<Json> SaveAfter(const Delivered& delivered) = 0;
  // Called before the first Take. Gives what the consumer had when `state` was saved.
  virtual Result<Delivered> Restore(const Json& state) = 0;
};

// How many elements of this Spec make a chunk at most. Large ones (kLargeElementBytes, tuner.h) are
// made one by one, small ones column by column.
int64_t MaxChunkSize(const Spec& spec);

// Chunks of a dataset that is read by position: taking is counting, finishing is reading.
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

// Chunks of a stream: taking is pulling the input, finishing is applying the maps that stand behind
// it. Positions count the elements pulled since the restored state, or since the start.
//
// A position in a stream is a state of its iterator, which may be large, so it is saved only now
// and then: SaveAfter gives the newest saved state that is not ahead of the consumer, and how many
// elements to read again from there.
class StreamSource final : public ChunkSource {
 public:
  // For `node`, which passes its input on unchanged, or maps elements one by one (with the stages
  // of that kind straight below it).
  static Result<std::unique_ptr<StreamSource>> Open(const OpenContext& context,
                                                    const DatasetNode& node);

  // Whether chunks may be delivered as they finish.
  bool any_order() const { return any_order_; }
  // Whether finishing is any work.
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
  // Finishes a chunk column by column; false, with `chunk` as it was, where that cannot be done.
  bool FinishAsRows(Chunk& chunk) const;
  // The next element of the input, saving the input's state first where it is time to.
  Result<std::optional<Element>> Pull();
  Status SaveInputIfDue();
  // Frees the saved states that nobody goes back to once the consumer has all before `frontier`.
  // With mutex_ held.
  void DropPassed(int64_t frontier);

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

  std::mutex mutex_;                // guards snapshots_
  std::deque<Snapshot> snapshots_;  // oldest first
};

}  // namespace stoker
