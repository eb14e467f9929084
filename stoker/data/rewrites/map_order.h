// The order of maps and of operators that do not look into elements. Each function builds an
// operator over `input`, which can only be read in order, or over what stands before the maps at
// its end; those that were passed over then stand behind the operator, and their details name it.
// By position there is nothing to gain: nothing is held, and what is left out is never read.
#pragma once

#include <functional>
#include <string_view>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// A transform that succeeds on every element that fits its Spec, costs little and draws nothing: it
// may be applied earlier or later than it was written, and nobody can tell.
class MovableTransform : public Transform {
 public:
  bool random() const final { return false; }
};

using BuildOver = std::function<Result<Dataset>(Dataset input)>;

// For an operator that leaves elements out: no map is applied to those.
Result<Dataset> LeaveOutBeforeMaps(std::string_view name, Dataset input, const BuildOver& build);

// For an operator that holds many elements: movable maps that make elements larger are applied to
// those it gives, so that it holds the smaller ones.
Result<Dataset> HoldBeforeGrowingMaps(std::string_view name, Dataset input, const BuildOver& build);

}  // namespace stoker
