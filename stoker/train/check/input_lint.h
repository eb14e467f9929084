// The lint's check of the values of a model's inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/train/check/model_lint.h"

namespace stoker {

// Checks that inputs have a mean near 0 and a deviation near 1. Returns nothing if they have, or if
// each row is one-hot.
//   values    of a batch, float64 on any device
//   field     their field in the recipe, for the proposed fix
//   pipeline  the list of operators that made them; may be null
// Throws c10::Error.
std::optional<LintFinding> LintInputs(const at::Tensor& values, std::string_view field,
                                      const ConfigNode* pipeline);

}  // namespace stoker
