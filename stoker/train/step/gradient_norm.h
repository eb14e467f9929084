// The length of gradients, in double: where differences of such numbers are what counts.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace stoker {

// The sum of the squares of all values of all tensors that are defined. Waits for a device. Throws
// c10::Error.
double SumOfSquares(const std::vector<at::Tensor>& gradients);

}  // namespace stoker
