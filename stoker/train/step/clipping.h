// Clipping: limits gradients between the backward pass and the optimizer.
//
//   train:
//     clip: {norm: 1.0}         # or value, or adaptive, or several
//
// In this order, each if set:
//   adaptive  of each unit (a row, filter or bias vector) with gradient g and weights p: g *= c /
//   |g|
//             if |g| > c, c = adaptive * max(|p|, 1e-3) (Brock et al., arXiv 2102.06171)
//   value     each value into [-value, value]
//   norm      of all gradients together: g *= norm / (|g| + 1e-6) if that is below 1 (Pascanu et
//             al., arXiv 1211.5063), as torch's clip_grad_norm_
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "stoker/run/recipe.h"

namespace stoker {

// Clips the gradients of `parameters`, in place; ignores those without one. A norm that is not
// finite makes gradients that are not finite, which hides nothing. On the CPU norms have the same
// bits for any number of threads. Throws c10::Error.
void ClipGradients(const ClipOptions& options, const std::vector<at::Tensor>& parameters);

}  // namespace stoker
