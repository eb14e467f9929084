// B-trees of version 2: the indices of large groups, and of chunks of several growing dimensions.
#pragma once

#include <cstdint>
#include <functional>

#include "stoker/formats/hdf5/content_internal.h"

namespace stoker::internal {

// Calls `visit` for each record of the tree whose header is at `at`, in any order, with the
// record's size. The records must be of `type`. Errors: kDataLoss, also for a wrong checksum, and
// those of `visit`.
Status VisitBTree2(const Hdf5Content& file, uint64_t at, uint8_t type,
                   const std::function<Status(Hdf5Cursor record, uint64_t size)>& visit);

// Returns how many bytes numbers up to this one take.
int BytesToStore(uint64_t most);

}  // namespace stoker::internal
