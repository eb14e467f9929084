// Arrays of chunks by number: the index of datasets with one dimension without end.
#pragma once

#include <cstdint>

#include "stoker/formats/hdf5/chunk_list_internal.h"

namespace stoker::internal {

// What an array has of each chunk: its address and, where chunks are filtered, its bytes and the
// filters left out.
class ArrayEntries {
 public:
  ArrayEntries(const Hdf5Content& file, bool filtered, uint8_t entry_bytes)
      : file_(file), filtered_(filtered), entry_bytes_(entry_bytes) {}

  // Adds the `count` entries that are next in `in`, the first of which is that of chunk `first`, to
  // `list`. Errors: kDataLoss.
  Status Read(Hdf5Cursor& in, uint64_t first, uint64_t count, ChunkList& list) const;

 private:
  const Hdf5Content& file_;
  const bool filtered_;
  const uint8_t entry_bytes_;
};

// Adds all chunks of the array whose header is at `at`. Errors: kDataLoss, a checksum that is wrong
// included.
Status VisitExtensibleArray(const Hdf5Content& file, uint64_t at, bool filtered, ChunkList& list);

}  // namespace stoker::internal
