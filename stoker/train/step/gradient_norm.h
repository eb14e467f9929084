// The norm of gradients in double, for differences of such numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace stoker {

// Returns the sum of the squares of all values of all defined tensors, which may be gradients of
// rows (core/row_gradient.h). Waits for a device. Throws
// c10::Error.
double SumOfSquares(const std::vector<at::Tensor>& gradients);

}  // namespace stoker
