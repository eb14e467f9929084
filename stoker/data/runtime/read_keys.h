// Reading elements again from their keys, for stages that held them when a pass was saved.
#pragma once

#include <vector>

#include "stoker/data/core/runtime.h"

namespace stoker {

// The elements of `node`'s input with these keys, in their order; the input must be rereadable. On
// the runtime's threads where it has some. Time and memory are those of `node` and of the stages
// below it. kCancelled if `context` is asked to stop.
Result<std::vector<Element>> ReadInputKeys(const OpenContext& context, const DatasetNode& node,
                                           std::vector<SampleKey> keys);

}  // namespace stoker
