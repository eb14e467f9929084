// B-trees of version 2: the indices of large groups, and of chunks of several growing dimensions.
#pragma once

#include <cstdint>
#include <functional>

#include "stoker/formats/hdf5/content_internal.h"

namespace stoker::internal {

// Hands each record of the tree whose header is at `at` to `visit`, in no order that matters, with
// its size; `type` is what the records must be. Errors: kDataLoss, a checksum that is wrong
// included, and those of `visit`.
Status VisitBTree2(const Hdf5Content& file, uint64_t at, uint8_t type,
                   const std::function<Status(Hdf5Cursor record, uint64_t size)>& visit);

// How many bytes it takes to store numbers up to this one.
int BytesToStore(uint64_t most);

}  // namespace stoker::internal
