// Reads elements again from their keys, for stages that held them when a pass was saved.
#pragma once

#include <vector>

#include "stoker/data/core/runtime.h"

namespace stoker {

// Returns the elements of `node`'s input with these keys, in their order; the input must be
// rereadable. Uses the runtime's threads, if any. Time and memory are counted for `node` and the
// preceding stages. kCancelled if `context` is asked to stop.
Result<std::vector<Element>> ReadInputKeys(const OpenContext& context, const DatasetNode& node,
                                           std::vector<SampleKey> keys);

}  // namespace stoker
