// The chunks that an index lists, checked one by one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stoker/formats/hdf5/chunk_index_internal.h"

namespace stoker::internal {

inline constexpr std::string_view kChunkIndex = "the index of chunks";

class ChunkList {
 public:
  ChunkList(const Hdf5Content& file, const Hdf5Grid& grid) : file_(file), grid_(grid) {}

  // The chunk at these coordinates of the grid; one outside, which is there where a dataset was
  // made smaller, is passed over. `listed`: where the index names it. Errors: kDataLoss for one
  // that is not in the file, and for more of them than any file has.
  Status Add(std::span<const uint64_t> coordinates, Hdf5Chunk chunk, uint64_t listed);

  // The same by the number in a grid of all chunks that there may ever be: `strides` says how many
  // numbers it is from one chunk to the next along each dimension, `order` which dimension comes
  // first.
  Status AddNumbered(uint64_t number, Hdf5Chunk chunk, uint64_t listed);

  // With dimension `first` as the slowest, the numbers that AddNumbered takes. False where there
  // are too many.
  bool NumberByMost(size_t first);

  // Sorted. Errors: kDataLoss for a chunk that is listed twice.
  Result<std::vector<Hdf5Chunk>> Finish() &&;

 private:
  const Hdf5Content& file_;
  const Hdf5Grid& grid_;
  std::vector<Hdf5Chunk> chunks_;
  std::vector<size_t> order_;
  std::vector<uint64_t> strides_;  // by order_
};

}  // namespace stoker::internal
