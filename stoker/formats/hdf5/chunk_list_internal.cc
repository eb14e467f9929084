#include "stoker/formats/hdf5/chunk_list_internal.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stoker::internal {

Status ChunkList::Add(std::span<const uint64_t> coordinates, Hdf5Chunk chunk, uint64_t listed) {
  uint64_t number = 0;
  for (size_t d = 0; d < grid_.grid.size(); ++d) {
    const auto extent = static_cast<uint64_t>(grid_.grid[d]);
    if (coordinates[d] >= extent) return OkStatus();
    number = number * extent + coordinates[d];
  }
  chunk.number = static_cast<int64_t>(number);
  if (!grid_.filtered) chunk.bytes = grid_.chunk_bytes;
  if (!file_.Holds(chunk.at, chunk.bytes) || chunk.bytes == 0) {
    return file_.Damaged(
        listed, fmt::format("chunk {} of {} should be {} bytes at {}, and the file "
                            "has {}",
                            number, grid_.where, chunk.bytes, chunk.at, file_.bytes.size()));
  }
  if (chunks_.size() >= file_.bytes.size())
    return file_.Damaged(listed, fmt::format("{} lists chunks without end", grid_.where));
  chunks_.push_back(chunk);
  return OkStatus();
}

bool ChunkList::NumberByMost(size_t first) {
  const size_t rank = grid_.grid.size();
  order_.assign(1, first);
  for (size_t d = 0; d < rank; ++d) {
    if (d != first) order_.push_back(d);
  }
  strides_.assign(rank, 1);
  for (size_t i = rank; i-- > 1;) {
    const int64_t most = grid_.most[order_[i]], chunk = grid_.chunk_shape[order_[i]];
    if (most < 0) return false;  // only the first may be endless
    const auto chunks = static_cast<uint64_t>(most / chunk + (most % chunk != 0 ? 1 : 0));
    if (chunks == 0 || strides_[i] > std::numeric_limits<uint64_t>::max() / chunks) return false;
    strides_[i - 1] = strides_[i] * chunks;
  }
  return true;
}

Status ChunkList::AddNumbered(uint64_t number, Hdf5Chunk chunk, uint64_t listed) {
  std::vector<uint64_t> coordinates(strides_.size());
  for (size_t i = 0; i < strides_.size(); ++i) {
    coordinates[order_[i]] = number / strides_[i];
    number %= strides_[i];
  }
  return Add(coordinates, chunk, listed);
}

Result<std::vector<Hdf5Chunk>> ChunkList::Finish() && {
  std::ranges::sort(chunks_, {}, &Hdf5Chunk::number);
  const auto twice = std::ranges::adjacent_find(chunks_, {}, &Hdf5Chunk::number);
  if (twice != chunks_.end())
    return file_.Damaged(twice->at,
                         fmt::format("chunk {} of {} is listed twice", twice->number, grid_.where));
  return std::move(chunks_);
}

}  // namespace stoker::internal
