// Applies a stage's transform to one element of its input.
#pragma once

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Applies the transform of `node`, which must have one, to the element. Exceptions become errors.
// An error names the file or record that the element came from if the source knows it, and is then
// never kInvalidArgument, which means wrong usage.
Status ApplyTransform(const DatasetNode& node, const ReadContext& context, Element& element);

// Does the same, and counts the element or the error in the stage's counters.
Status ApplyElementWise(const DatasetNode& node, const ReadContext& context, Element& element);

}  // namespace stoker
