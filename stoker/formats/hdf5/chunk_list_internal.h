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

  // Adds the chunk at these coordinates of the grid. Ignores one outside, which remains after a
  // dataset was shrunk. `listed`: its place in the index. Errors: kDataLoss for a chunk that is not
  // in the file, and for more chunks than any file has.
  Status Add(std::span<const uint64_t> coordinates, Hdf5Chunk chunk, uint64_t listed);

  // Does the same by the number in a grid of the largest extents: `strides` has the distance of
  // neighbouring chunks along each dimension, `order` the order of dimensions.
  Status AddNumbered(uint64_t number, Hdf5Chunk chunk, uint64_t listed);

  // Sets the numbering of AddNumbered, with dimension `first` as the slowest. Returns false if
  // there are too many numbers.
  bool NumberByMost(size_t first);

  // Returns the chunks sorted. Errors: kDataLoss for a chunk that is listed twice.
  Result<std::vector<Hdf5Chunk>> Finish() &&;

 private:
  const Hdf5Content& file_;
  const Hdf5Grid& grid_;
  std::vector<Hdf5Chunk> chunks_;
  std::vector<size_t> order_;
  std::vector<uint64_t> strides_;  // by order_
};

}  // namespace stoker::internal
