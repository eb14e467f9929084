// What the lint says about the values of a model's inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/train/check/model_lint.h"

namespace stoker {

// Whether inputs are near 0 and 1, and what to do where they are not; nothing where they are, and
// where each row is one-hot.
//   values    of a batch, float64 on any device
//   field     of the recipe that they are, for the proposed fix
//   pipeline  the list that made them, for what it did to them; may be null
// Throws c10::Error.
std::optional<LintFinding> LintInputs(const at::Tensor& values, std::string_view field,
                                      const ConfigNode* pipeline);

}  // namespace stoker
