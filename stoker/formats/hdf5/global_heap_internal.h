// The heap of texts and lists that have lengths of their own.
#pragma once

#include <cstdint>

#include "stoker/formats/hdf5/content_internal.h"

namespace stoker::internal {

struct HeapContent {
  uint64_t at = 0;      // in the file, all of it there
  uint64_t values = 0;  // of the size asked for
};

// What a dataset stores in the place of a text or list, a length and a place in the heap, leads to;
// `value_bytes` is what one of its values takes. Thread-safe; costs a look at the heads of what
// lies before it in its block, of 4 KiB as a rule. Errors: kDataLoss.
Result<HeapContent> FollowToHeap(const Hdf5Content& file, std::span<const std::byte> stored,
                                 uint64_t value_bytes);

}  // namespace stoker::internal
