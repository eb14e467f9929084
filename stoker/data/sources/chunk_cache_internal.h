// A cache of decompressed chunks, so that a row does not cost the decompression of its whole chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/data/sources/parts_in_use_internal.h"
#include "stoker/formats/chunked/chunked_array.h"

namespace stoker {

// Thread-safe. If several threads ask for one chunk, one of them reads it. Holds at most `limit`
// bytes: chunks in use, kept chunks and memory for reading one; a thread whose chunks do not fit
// beside those in use waits. Only a single row of chunks that is larger than the limit may exceed
// it, alone.
class ChunkCache {
 public:
  // Keeps up to `most_kept` bytes of unused chunks, the most recently used ones and always the last
  // one. Charges `account` (may be null).
  ChunkCache(uint64_t most_kept, uint64_t limit, std::shared_ptr<MemoryAccount> account = nullptr)
      : account_(std::move(account)), limit_(limit), parts_(most_kept) {}

  // Returns the bytes that reading a chunk takes beside the chunk.
  static uint64_t BytesToRead(const ChunkedArray& array) { return array.chunk_bytes(); }

  void SetLimit(uint64_t limit);

  // The use of the chunks of one array by one thread, one row of chunks (all chunks whose first
  // coordinate is one) at a time. A chunk is valid until one of another row is requested, or the
  // use ends.
  class Use {
   public:
    // `array` must live as long as the cache.
    Use(ChunkCache& cache, const ChunkedArray& array) : cache_(cache), array_(array) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { LetGo(); }

    // Chunk `number`. Errors: those of ReadChunk, which are not cached; kCancelled if this thread
    // is asked to stop while it waits for other threads (base/stop_scope.h).
    Result<StoredChunk> Get(int64_t number);

   private:
    void LetGo();

    ChunkCache& cache_;
    const ChunkedArray& array_;
    std::optional<int64_t> row_;  // of chunks, which are in use
    bool read_one_ = false;       // whether room to read is reserved too
  };

 private:
  using Key = std::pair<const ChunkedArray*, int64_t>;
  struct Entry {
    Mutex reading;  // held while the chunk is read
    StoredChunk chunk STOKER_GUARDED_BY(reading);
    bool ready STOKER_GUARDED_BY(reading) = false;
  };

  // Marks the chunks of a row, [first, first + count), as in use. Returns whether one must be read.
  Result<bool> Begin(const ChunkedArray& array, int64_t first, int64_t count);
  // Takes them if the missing ones fit; returns the missing bytes, or nothing.
  std::optional<uint64_t> TakeIfTheyFit(const ChunkedArray& array, int64_t first, int64_t count)
      STOKER_REQUIRES(mutex_);
  void End(const ChunkedArray& array, int64_t first, int64_t count, bool read_one);
  std::shared_ptr<Entry> EntryOf(const Key& key);
  static bool IsWorthKeeping(Entry& entry);

  const std::shared_ptr<MemoryAccount> account_;
  Mutex mutex_;
  CondVar fewer_;
  uint64_t limit_ STOKER_GUARDED_BY(mutex_);
  PartsInUse<Key, std::shared_ptr<Entry>> parts_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
