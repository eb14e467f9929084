// The outermost iterator of one of several ranks (PassOptions::world).
#pragma once

#include <memory>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Opens the share of options.rank. Its saved positions are those of the whole pass, which
// Dataset::Open without ranks writes and reads too.
Result<std::unique_ptr<Iterator>> OpenRank(const Dataset& dataset, const Runtime& runtime,
                                           const PassOptions& options);

}  // namespace stoker
