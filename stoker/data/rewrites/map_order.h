// Exchanges maps with operators that do not look into elements. Each function builds an operator
// over `input`, which can only be read in order, or over the stages before the maps at its end; the
// maps then follow the operator, and their details name it. By position this would gain nothing:
// nothing is held, and dropped elements are never read.
#pragma once

#include <functional>
#include <string_view>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// A transform that succeeds on every element that fits its Spec, costs little and draws nothing:
// applying it earlier or later than written does not change the result.
class MovableTransform : public Transform {
 public:
  bool random() const final { return false; }
};

using BuildOver = std::function<Result<Dataset>(Dataset input)>;

// For an operator that drops elements, so that maps are not applied to them.
Result<Dataset> LeaveOutBeforeMaps(std::string_view name, Dataset input, const BuildOver& build);

// For an operator that holds many elements: applies movable maps that make elements larger after
// it, so that it holds the smaller ones.
Result<Dataset> HoldBeforeGrowingMaps(std::string_view name, Dataset input, const BuildOver& build);

}  // namespace stoker
