// What one process packs: all files, or those of its part, and the elements that go into them.
#pragma once

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/pack/pack.h"

namespace stoker::internal {

struct PackShare {
  PackRange files;
  PackRange elements;         // if their number is known
  int64_t all_elements = -1;  // of all files; -1: unknown
};

// Checks that `dataset` can be packed with these options. Errors: kInvalidArgument, as of Pack.
Status CheckPackRequest(const Dataset& dataset, const PackOptions& options);

// REQUIRES: CheckPackRequest.
PackShare PackShareOf(const Dataset& dataset, const PackOptions& options);

// Returns the elements of a share, as they are in the whole pass. The share that has the last file
// may return more elements than `dataset` announces, if that announces too few.
Result<Dataset> ElementsOfShare(const Dataset& dataset, const PackOptions& options,
                                const PackShare& share);

}  // namespace stoker::internal
