// What losses say of targets that they do not take.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/train/core/target.h"

namespace stoker {

// Class numbers where there is one integer a sample, otherwise `numbers`. Errors: kInvalidArgument
// where these are not one for each of the model's outputs, with what to change.
//   takes  what the loss takes, to follow "it takes "
Result<TargetKind> ClassOrNumberForEachOutput(std::string_view takes, TargetKind numbers,
                                              const Field& target, int64_t outputs);

}  // namespace stoker
