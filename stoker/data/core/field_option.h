// Fields that options name: which they are, and whether each has a name of its own.
#pragma once

#include <cstddef>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"

namespace stoker {

// The number of the field called `name` in `spec`. The error names who asks, lists the fields that
// there are and says which option tells another:
//   normalize: there is no field 'image'; the elements are {x: uint8[4]}; say which it is with
//   `field:`
Result<size_t> IndexOfOption(const Spec& spec, std::string_view who, std::string_view option,
                             std::string_view name);

// The first name that two fields of `spec` have; empty where each has its own.
std::string_view RepeatedName(const Spec& spec);

}  // namespace stoker
