// Adds a field of an operator to a Spec.
#pragma once

#include <string_view>

#include "stoker/data/core/spec.h"

namespace stoker {

// Appends `field`. InvalidArgument if its name is empty or taken; `who` names the operator in the
// message.
Status AddField(std::string_view who, Field field, Spec& spec);

}  // namespace stoker
