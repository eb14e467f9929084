// The global heap, which stores texts and lists of variable length.
#pragma once

#include <cstdint>

#include "stoker/formats/hdf5/content_internal.h"

namespace stoker::internal {

struct HeapContent {
  uint64_t at = 0;      // in the file, all of it there
  uint64_t values = 0;  // of the size asked for
};

// Follows a reference (a length and a place in the heap) that a dataset stores instead of a text or
// list; `value_bytes`: of one of its values. Thread-safe; reads the heads of the objects that
// precede it in its collection, usually of 4 KiB. Errors: kDataLoss.
Result<HeapContent> FollowToHeap(const Hdf5Content& file, std::span<const std::byte> stored,
                                 uint64_t value_bytes);

}  // namespace stoker::internal
