// What losses say of targets that they do not take.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/spec.h"

namespace stoker {

// Errors: kInvalidArgument where a target has not one number for each of the model's outputs, with
// what to change.
//   takes  what the loss takes, to follow "it takes "
Status CheckNumberForEachOutput(std::string_view takes, const Field& target, int64_t outputs);

}  // namespace stoker
