// What the workers of a ReadAhead work on: chunks of consecutive elements, from a dataset read by
// position or from a stream. A chunk is one element where elements are large, and many where they
// are tiny, so that a hop between threads pays for enough work.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/data/runtime.h"
#include "stoker/data/runtime/failure_tally.h"

namespace stoker {

// Consecutive elements of a pass, and what comes after them: more chunks, an error, or the end.
struct Chunk {
  int64_t begin = 0;  // position of the first, and how many are wanted; set by Take
  int64_t count = 0;
  std::vector<Element> elements;
  // What was lost on the way to them, with the number of the element among them; in their order.
  std::vector<std::pair<size_t, LostElement>> lost;
  Status error;       // found after `elements`
  bool last = false;  // nothing comes after
  // What `elements` hold that is charged to no account, reserved until the consumer has the chunk.
  Ledger::Admission memory;
};

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // The part that must happen in order: fills `chunk`, which is new. Called by one thread at a
  // time; not after a chunk that is last or failed. `delivered`: how many elements the consumer has
  // by now, or fewer.
  virtual void Take(int64_t delivered, Chunk& chunk) = 0;
  // The part that may happen at any time, on many threads at once. Where this or Take throws, the
  // chunk holds the elements that are good, and nothing after them.
  virtual void Finish(Chunk& chunk) const = 0;

  // At most so many bytes of buffers are asked for to take and finish a chunk; nothing where the
  // Specs do not tell.
  virtual std::optional<int64_t> chunk_memory() const = 0;

  // Called in order, before element `number` of a chunk that has lost some is handed out. Errors:
  // it must not be, and the pass ends here.
  virtual Status Deliver(const Chunk& /*chunk*/, size_t /*number*/) { return OkStatus(); }

  // The state that continues after `delivered` elements have been handed out; may be called while
  // other threads work.
  virtual Result<Json> SaveAfter(int64_t delivered) = 0;
  // Called before the first Take.
  virtual Status Restore(const Json& state) = 0;
};

// How many elements of this Spec make a chunk.
int64_t ChunkSize(const Spec& spec);

// Chunks of a dataset that is read by position: taking is counting, finishing is reading.
class PositionSource final : public ChunkSource {
 public:
  PositionSource(const OpenContext& context, const DatasetNode& node);

  void Take(int64_t delivered, Chunk& chunk) override;
  void Finish(Chunk& chunk) const override;
  std::optional<int64_t> chunk_memory() const override { return node_.MemoryToRead(chunk_size_); }
  Status Deliver(const Chunk& chunk, size_t number) override;
  Result<Json> SaveAfter(int64_t delivered) override;
  Status Restore(const Json& state) override;

 private:
  Status ReadAll(Chunk& chunk) const;
  Status ReadOneByOne(Chunk& chunk, const ReadContext& context) const;

  const std::shared_ptr<Pass> pass_;
  const DatasetNode& node_;
  const int64_t chunk_size_;
  const bool tolerant_;
  uint64_t epoch_;
  int64_t start_ = 0;  // where this pass began (0, or the restored position)
  int64_t next_ = 0;
  FailureTally tally_;
};

// Chunks of a stream: taking is pulling the input, finishing is applying the maps that stand behind
// it.
//
// A position in a stream is a state of its iterator, which may be large, so it is saved only now
// and then: SaveAfter gives the newest saved state that is not ahead of the consumer, and how many
// elements to read again from there.
class StreamSource final : public ChunkSource {
 public:
  // For `node`, which passes its input on unchanged, or maps elements one by one (with the maps
  // straight below it).
  static Result<std::unique_ptr<StreamSource>> Open(const OpenContext& context,
                                                    const DatasetNode& node);

  void Take(int64_t delivered, Chunk& chunk) override;
  void Finish(Chunk& chunk) const override;
  std::optional<int64_t> chunk_memory() const override { return node_.MemoryToRead(chunk_size_); }
  Result<Json> SaveAfter(int64_t delivered) override;
  Status Restore(const Json& state) override;

 private:
  struct Snapshot {
    int64_t taken;  // elements pulled before it
    Json input;
  };

  StreamSource(const OpenContext& context, const DatasetNode& node)
      : pass_(context.pass()), node_(node), tolerant_(context.tolerant()) {}
  // The next element of the input, saving the input's state first where it is time to.
  Result<std::optional<Element>> Pull();
  Status SaveInputIfDue();
  // Frees the saved states that nobody goes back to once the consumer has so many elements. With
  // mutex_ held.
  void DropPassed(int64_t delivered);

  const std::shared_ptr<Pass> pass_;
  const DatasetNode& node_;
  const bool tolerant_;
  std::vector<const DatasetNode*> maps_;  // first applied first
  std::unique_ptr<Iterator> input_;
  int64_t chunk_size_ = 1;
  int64_t taken_ = 0;       // elements pulled since the restored state
  int64_t read_again_ = 0;  // after a restore: the first so many of them had been delivered already

  std::mutex mutex_;                // guards snapshots_
  std::deque<Snapshot> snapshots_;  // oldest first
};

}  // namespace stoker
