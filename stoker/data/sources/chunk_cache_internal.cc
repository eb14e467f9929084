#include "stoker/data/sources/chunk_cache_internal.h"

namespace stoker {

Result<StoredChunk> ChunkCache::Get(const ChunkedArray& array, int64_t number) {
  const Key key(&array, number);
  const std::shared_ptr<Entry> entry = EntryOf(key);
  const std::lock_guard reading(entry->reading);
  if (entry->ready) return entry->chunk;
  Result<StoredChunk> chunk = array.ReadChunk(number);
  // What lies in the file, and what was never written, takes no memory worth keeping.
  if (!chunk.ok() || chunk->mapped || chunk->data == nullptr) {
    Forget(key, entry);
    return chunk;
  }
  entry->chunk = *chunk;
  entry->ready = true;
  CountAndTrim(key, entry, chunk->owner.size());
  return chunk;
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::EntryOf(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = known_.try_emplace(key);
  if (is_new) {
    uses_.push_front(key);
    known->second = {std::make_shared<Entry>(), uses_.begin(), 0};
  } else {
    uses_.splice(uses_.begin(), uses_, known->second.use);
  }
  return known->second.entry;
}

void ChunkCache::Forget(const Key& key, const std::shared_ptr<Entry>& entry) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.entry != entry) return;
  uses_.erase(known->second.use);
  known_.erase(known);
}

void ChunkCache::CountAndTrim(const Key& key, const std::shared_ptr<Entry>& entry, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(key);
  if (known == known_.end() || known->second.entry != entry) return;  // it has gone already
  known->second.bytes = bytes;
  bytes_ += bytes;
  while (bytes_ > most_bytes_ && uses_.size() > 1) {
    const auto oldest = known_.find(uses_.back());
    bytes_ -= oldest->second.bytes;
    known_.erase(oldest);
    uses_.pop_back();
  }
}

}  // namespace stoker
