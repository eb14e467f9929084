// Errors of losses for targets that they do not accept.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/train/core/target.h"

namespace stoker {

// Returns kClass for one integer a sample, otherwise `numbers`. Errors: kInvalidArgument if these
// are not one for each of the model's outputs, with what to change.
//   takes  what the loss accepts, to follow "it takes "
Result<TargetKind> ClassOrNumberForEachOutput(std::string_view takes, TargetKind numbers,
                                              const Field& target, int64_t outputs);

}  // namespace stoker
