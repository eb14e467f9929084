// Holding elements that user code made to what the pipeline was promised.
#pragma once

#include <string_view>

#include "stoker/data/core/element.h"

namespace stoker {

// InvalidArgument where `element` has other fields, dtypes or known extents than `spec`: everything
// behind it is planned from the Spec and reads the arrays as it says. `who` names the stage.
Status CheckElement(std::string_view who, const Spec& spec, const Element& element);

}  // namespace stoker
