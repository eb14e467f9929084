// Conditions on elements: what `filter` is made of, for operators that are made of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

struct Filter;

// Keeps the elements that `predicate` accepts, as `Filter{.predicate = ...}` does; the stage is
// called `name` and described by `details`, its condition NAME_condition.
Dataset FilterBy(Dataset input, const std::string& name, std::string details,
                 std::function<Result<bool>(const Element&)> predicate);

// Returns `input` with one more field, bool[]: whether the element meets the conditions. The stage
// is called WHO_condition, and is computed on threads. Errors: those of the options, begun by
// `who`.
Result<Dataset> WithCondition(std::string_view who, const Filter& conditions, Dataset input);

}  // namespace stoker
