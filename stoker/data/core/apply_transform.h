// A stage's transform, applied to one element of its input.
#pragma once

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Puts the element through the transform of `node`, which must have one. What that throws becomes
// an error, too. An error names the file or the record that the element was made of, where the
// source can name it, and is then never kInvalidArgument, which means wrong usage.
Status ApplyTransform(const DatasetNode& node, const ReadContext& context, Element& element);

// The same, and counts the element or the error in the stage's counters.
Status ApplyElementWise(const DatasetNode& node, const ReadContext& context, Element& element);

}  // namespace stoker
