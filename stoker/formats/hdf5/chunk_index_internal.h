// Where the chunks of a dataset lie.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/shape.h"
#include "stoker/formats/hdf5/object_internal.h"

namespace stoker::internal {

struct Hdf5Chunk {
  int64_t number = 0;     // in the grid, C order
  uint64_t at = 0;        // in the file
  uint64_t bytes = 0;     // there
  uint32_t left_out = 0;  // bit i: filter i was not applied
};

// The grid that chunks are numbered in, and how they are indexed in the file.
struct Hdf5Grid {
  Shape shape, most, chunk_shape;  // of the dataset; `most` as of Hdf5Space
  Shape grid;                      // chunks along each dimension
  uint64_t chunk_bytes = 0;        // of a chunk without filters
  bool filtered = false;
  std::string where;  // begins messages
};

// Of a layout message (its bytes from `in` on, which stands behind the chunks' extents): the chunks
// that have been written, sorted by number, each inside the grid and the file, no number twice.
// Memory and time are bounded by the file's size. Errors: kDataLoss.
Result<std::vector<Hdf5Chunk>> ReadChunkTree(const Hdf5Content& file, const Hdf5Grid& grid,
                                             uint64_t tree);
Result<std::vector<Hdf5Chunk>> ReadChunkIndex(const Hdf5Content& file, const Hdf5Grid& grid,
                                              Hdf5Cursor in, uint8_t flags);

}  // namespace stoker::internal
