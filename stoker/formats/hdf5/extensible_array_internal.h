// Extensible arrays: the chunk index of datasets with one unlimited dimension.
#pragma once

#include <cstdint>

#include "stoker/formats/hdf5/chunk_list_internal.h"

namespace stoker::internal {

// The array's entries, one a chunk: its address and, if chunks are filtered, its bytes and its
// filter mask.
class ArrayEntries {
 public:
  ArrayEntries(const Hdf5Content& file, bool filtered, uint8_t entry_bytes)
      : file_(file), filtered_(filtered), entry_bytes_(entry_bytes) {}

  // Adds the next `count` entries of `in`, the first of which is for chunk `first`, to `list`.
  // Errors: kDataLoss.
  Status Read(Hdf5Cursor& in, uint64_t first, uint64_t count, ChunkList& list) const;

 private:
  const Hdf5Content& file_;
  const bool filtered_;
  const uint8_t entry_bytes_;
};

// Adds all chunks of the array whose header is at `at`. Errors: kDataLoss, also for a wrong
// checksum.
Status VisitExtensibleArray(const Hdf5Content& file, uint64_t at, bool filtered, ChunkList& list);

}  // namespace stoker::internal
