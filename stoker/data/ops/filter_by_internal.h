// `filter` under the name of an operator that is made of it.
#pragma once

#include <functional>
#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the elements that `predicate` accepts, as `Filter{.predicate = ...}` does; the stage is
// called `name` and described by `details`, its condition NAME_condition.
Dataset FilterBy(Dataset input, const std::string& name, std::string details,
                 std::function<Result<bool>(const Element&)> predicate);

}  // namespace stoker
