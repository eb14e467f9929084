// Checks elements made by user code against the declared Spec.
#pragma once

#include <string_view>

#include "stoker/data/core/element.h"

namespace stoker {

// Returns InvalidArgument if `element` has other fields, dtypes or known extents than `spec`, on
// which all later stages rely. `who` names the stage.
Status CheckElement(std::string_view who, const Spec& spec, const Element& element);

}  // namespace stoker
