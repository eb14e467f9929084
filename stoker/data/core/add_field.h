// Widening a Spec by a field that an operator adds.
#pragma once

#include <string_view>

#include "stoker/data/core/spec.h"

namespace stoker {

// Appends `field`. InvalidArgument where its name is empty or taken; `who` is the operator, for the
// message.
Status AddField(std::string_view who, Field field, Spec& spec);

}  // namespace stoker
