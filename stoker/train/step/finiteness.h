// Whether tensors are free of NaNs and infinities, in one pass over their values.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "stoker/train/core/named_tensor.h"

namespace stoker {

// Functions throw c10::Error; a device is waited for once, not for each tensor.

// Gradients, in the pass that gradient scaling makes, by the factor 1: it writes them, and changes
// none.
bool GradientsAreFinite(const std::vector<at::Tensor>& parameters);

// The name of the first floating-point tensor that holds one; empty where none does.
std::string FirstNotFinite(const NamedTensors& tensors);

}  // namespace stoker
