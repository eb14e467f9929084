// Gives the stages that an operator of a user makes of functions the name of that operator.
#pragma once

#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns `built`, where those stages at its end that are a `map` (Map or MapRows, nodes/map.h) are
// called `name` in reports and errors; the elements stay the same. Stops at `before`, the input
// that the operator was given, which may be null.
Dataset NameMaps(Dataset built, const DatasetNode* before, const std::string& name);

}  // namespace stoker
