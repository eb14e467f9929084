#include "stoker/data/sources/chunk_cache_internal.h"

#include "stoker/base/stop_scope.h"

namespace stoker {
namespace {

int64_t ChunksOfARow(const ChunkedArray& array) {
  return array.grid().front() == 0 ? 1 : array.chunks() / array.grid().front();
}

}  // namespace

void ChunkCache::SetLimit(uint64_t limit) {
  const MutexLock lock(mutex_);
  limit_ = limit;
  fewer_.NotifyAll();
}

Result<StoredChunk> ChunkCache::Use::Get(int64_t number) {
  const int64_t across = ChunksOfARow(array_), row = number / across;
  if (row_ != row) {
    LetGo();
    STOKER_ASSIGN_OR_RETURN(read_one_, cache_.Begin(array_, row * across, across));
    row_ = row;
  }
  const std::shared_ptr<Entry> entry = cache_.EntryOf({&array_, number});
  if (!LockUnlessStopped(entry->reading))
    return Cancelled("{}: asked to stop while another thread read chunk {}", array_.name(), number);
  const MutexLock reading(entry->reading, std::adopt_lock);
  if (!entry->ready) {
    STOKER_ASSIGN_OR_RETURN(entry->chunk, array_.ReadChunk(number, cache_.account_));
    entry->ready = true;
  }
  return entry->chunk;
}

void ChunkCache::Use::LetGo() {
  if (!row_) return;
  const int64_t across = ChunksOfARow(array_);
  cache_.End(array_, *row_ * across, across, read_one_);
  row_.reset();
}

Result<bool> ChunkCache::Begin(const ChunkedArray& array, int64_t first, int64_t count) {
  const MutexLock lock(mutex_);
  std::optional<uint64_t> taken;
  const auto take = [&]() STOKER_REQUIRES(mutex_) {
    taken = TakeIfTheyFit(array, first, count);
    return taken.has_value();
  };
  if (WaitUnlessStopped(fewer_, mutex_, take)) return *taken > 0;
  return Cancelled("{}: asked to stop while other threads used as many chunks as fit",
                   array.name());
}

std::optional<uint64_t> ChunkCache::TakeIfTheyFit(const ChunkedArray& array, int64_t first,
                                                  int64_t count) {
  uint64_t missing = 0, idle = 0;
  for (int64_t number = first; number < first + count; ++number) {
    const auto known = known_.find({&array, number});
    if (known == known_.end()) missing += array.chunk_bytes();
    if (known != known_.end() && known->second.users == 0) idle += known->second.bytes;
  }
  const uint64_t wanted = missing == 0 ? 0 : missing + BytesToRead(array);
  // What is idle and not wanted makes room.
  const bool others_use_some = held_bytes_ > idle_bytes_;
  if (others_use_some && held_bytes_ - idle_bytes_ + idle + wanted > limit_) return std::nullopt;
  for (int64_t number = first; number < first + count; ++number) {
    const auto [known, is_new] = known_.try_emplace({&array, number});
    if (is_new) {
      known->second.bytes = array.chunk_bytes();
    } else if (known->second.users == 0) {
      idle_.erase(known->second.idle);
      idle_bytes_ -= known->second.bytes;
    }
    ++known->second.users;
  }
  held_bytes_ += wanted;
  DropIdle(most_kept_, limit_, 0);
  return wanted;
}

// What lies in the file, and what was never written, takes no memory worth keeping; an error is not
// kept.
bool ChunkCache::IsWorthKeeping(Entry& entry) {
  const MutexLock reading(entry.reading);  // nobody uses it, so this does not wait
  return entry.ready && !entry.chunk.mapped && entry.chunk.data != nullptr;
}

void ChunkCache::End(const ChunkedArray& array, int64_t first, int64_t count, bool read_one) {
  const MutexLock lock(mutex_);
  if (read_one) held_bytes_ -= BytesToRead(array);
  for (int64_t number = first; number < first + count; ++number) {
    const auto known = known_.find({&array, number});
    if (--known->second.users > 0) continue;
    if (!IsWorthKeeping(*known->second.entry)) {
      held_bytes_ -= known->second.bytes;
      known_.erase(known);
      continue;
    }
    idle_.push_front(known->first);
    known->second.idle = idle_.begin();
    idle_bytes_ += known->second.bytes;
  }
  DropIdle(most_kept_, limit_, 1);
  fewer_.NotifyAll();
}

void ChunkCache::DropIdle(uint64_t most_kept, uint64_t most_held, size_t fewest) {
  while (idle_.size() > fewest && (idle_bytes_ > most_kept || held_bytes_ > most_held)) {
    const auto oldest = known_.find(idle_.back());
    idle_bytes_ -= oldest->second.bytes;
    held_bytes_ -= oldest->second.bytes;
    known_.erase(oldest);
    idle_.pop_back();
  }
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::EntryOf(const Key& key) {
  const MutexLock lock(mutex_);
  return known_.at(key).entry;
}

}  // namespace stoker
