// Finds the fields that options name, and repeated names.
#pragma once

#include <cstddef>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"

namespace stoker {

// Returns the number of the field called `name` in `spec`. The error names `who`, lists the
// existing fields and says which option to set, or which field is called nearly so:
//   normalize: there is no field 'image'; the elements are {x: uint8[4]}; say which it is with
//   `field:`
Result<size_t> IndexOfOption(const Spec& spec, std::string_view who, std::string_view option,
                             std::string_view name);

// Returns the first name that two fields of `spec` share; empty if all names are distinct.
std::string_view RepeatedName(const Spec& spec);

}  // namespace stoker
