// Checks tensors for NaNs and infinities, in one pass over their values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "stoker/train/core/named_tensor.h"

namespace stoker {

// The message and the advice for an input that is not finite.
inline constexpr std::string_view kInputNotFinite = "the input holds values that are not finite";
inline constexpr std::string_view kFiniteInput =
    "Correct these samples or leave them out (`filter`); where they come from missing values, give "
    "the field another `default`";

// Functions throw c10::Error; they wait for a device once, not for each tensor.

// Checks gradients with the kernel of gradient scaling and the factor 1: it writes them without
// changing any.
bool GradientsAreFinite(const std::vector<at::Tensor>& parameters);

// Returns the name of the first floating-point tensor that holds one; empty if none does.
std::string FirstNotFinite(const NamedTensors& tensors);

}  // namespace stoker
