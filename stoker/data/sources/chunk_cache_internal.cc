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
    const auto* const part = parts_.Find({&array, number});
    if (part == nullptr) missing += array.chunk_bytes();
    if (part != nullptr && part->users == 0) idle += part->bytes;
  }
  const uint64_t to_read = missing == 0 ? 0 : BytesToRead(array);
  // What is idle and not wanted makes room.
  const uint64_t used = parts_.bytes_in_use();
  if (used > 0 && used + idle + missing + to_read > limit_) return std::nullopt;
  for (int64_t number = first; number < first + count; ++number) {
    auto& part = parts_.Use({&array, number}, array.chunk_bytes());
    if (part.value == nullptr) part.value = std::make_shared<Entry>();
  }
  parts_.Reserve(to_read);
  parts_.DropIdle(limit_, 0);
  return missing + to_read;
}

// What lies in the file, and what was never written, takes no memory worth keeping; an error is not
// kept.
bool ChunkCache::IsWorthKeeping(Entry& entry) {
  const MutexLock reading(entry.reading);  // nobody uses it, so this does not wait
  return entry.ready && !entry.chunk.mapped && entry.chunk.data != nullptr;
}

void ChunkCache::End(const ChunkedArray& array, int64_t first, int64_t count, bool read_one) {
  const MutexLock lock(mutex_);
  if (read_one) parts_.Return(BytesToRead(array));
  for (int64_t number = first; number < first + count; ++number) {
    parts_.Leave({&array, number},
                 [](const std::shared_ptr<Entry>& entry) { return IsWorthKeeping(*entry); });
  }
  parts_.DropIdle(limit_, 1);
  fewer_.NotifyAll();
}

std::shared_ptr<ChunkCache::Entry> ChunkCache::EntryOf(const Key& key) {
  const MutexLock lock(mutex_);
  return parts_.Find(key)->value;
}

}  // namespace stoker
