// The places of a dataset's chunks in the file.
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
  uint32_t left_out = 0;  // filter mask; bit i: filter i was not applied
};

// The grid of chunks, which numbers them, and their index in the file.
struct Hdf5Grid {
  Shape shape, most, chunk_shape;  // of the dataset; `most` as of Hdf5Space
  Shape grid;                      // chunks along each dimension
  uint64_t chunk_bytes = 0;        // of a chunk without filters
  bool filtered = false;
  std::string where;  // begins messages
};

// Reads a layout message from `in` on, which follows the chunks' extents, and returns the chunks
// that have been written, sorted by number, each inside the grid and the file, no number twice.
// Memory and time are bounded by the file's size. Errors: kDataLoss.
Result<std::vector<Hdf5Chunk>> ReadChunkTree(const Hdf5Content& file, const Hdf5Grid& grid,
                                             uint64_t tree);
Result<std::vector<Hdf5Chunk>> ReadChunkIndex(const Hdf5Content& file, const Hdf5Grid& grid,
                                              Hdf5Cursor in, uint8_t flags);

}  // namespace stoker::internal
