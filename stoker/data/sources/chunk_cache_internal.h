// Chunks that were decompressed last, so that the rows of one are not each the cost of all.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "stoker/formats/chunked/chunked_array.h"

namespace stoker {

// Thread-safe. What several threads ask for at once is read by one of them. Keeps up to
// `most_bytes` of chunks, those used last, and always the one used last; who holds a chunk keeps it
// beyond that.
class ChunkCache {
 public:
  explicit ChunkCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Chunk `number` of `array`, which must live as long as the cache. Errors: those of ReadChunk,
  // which are not kept.
  Result<StoredChunk> Get(const ChunkedArray& array, int64_t number);

 private:
  using Key = std::pair<const ChunkedArray*, int64_t>;
  struct Entry {
    std::mutex reading;  // held while the chunk is read
    StoredChunk chunk;
    bool ready = false;
  };
  struct Known {
    std::shared_ptr<Entry> entry;
    std::list<Key>::iterator use;
    uint64_t bytes = 0;  // once it has been read
  };

  std::shared_ptr<Entry> EntryOf(const Key& key);
  void Forget(const Key& key, const std::shared_ptr<Entry>& entry);
  void CountAndTrim(const Key& key, const std::shared_ptr<Entry>& entry, uint64_t bytes);

  const uint64_t most_bytes_;
  std::mutex mutex_;
  std::map<Key, Known> known_;
  std::list<Key> uses_;  // the last first
  uint64_t bytes_ = 0;
};

}  // namespace stoker
