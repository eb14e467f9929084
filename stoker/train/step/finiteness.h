// Whether tensors are free of NaNs and infinities, in one pass over their values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>
#include <vector>

#include "stoker/train/core/named_tensor.h"

namespace stoker {

// How a message says that an input is not finite, and what it advises then.
inline constexpr std::string_view kInputNotFinite = "the input holds values that are not finite";
inline constexpr std::string_view kFiniteInput =
    "Correct these samples or leave them out (`filter`); where they come from missing values, give "
    "the field another `default`";

// Functions throw c10::Error; a device is waited for once, not for each tensor.

// Gradients, in the pass that gradient scaling makes, by the factor 1: it writes them, and changes
// none.
bool GradientsAreFinite(const std::vector<at::Tensor>& parameters);

// The name of the first floating-point tensor that holds one; empty where none does.
std::string FirstNotFinite(const NamedTensors& tensors);

}  // namespace stoker
