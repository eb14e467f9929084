// GradCheck: checks a gradient against its function. For tests of your own operators and models.
//
//   STOKER_EXPECT_OK(GradCheck([](const auto& in) { return MyNorm(in[0], in[1]); }, {x, weight}));
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct GradCheckOptions {
  double step = 1e-6;  // of an input's value, in both directions
  double absolute = 1e-5;
  double relative = 1e-3;
};

using Function = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

// Compares the whole Jacobian of autograd with central differences, (f(x + step) - f(x - step)) /
// (2 step), value by value: |analytical - numerical| <= absolute + relative |numerical|, the bounds
// of torch.autograd.gradcheck.
//   f       differentiable and deterministic; returns a tensor of any shape
//   inputs  float64; copied, so they need not require gradients; inputs of other types are passed
//           unchanged
// Cost: two calls for each input value, one backward pass for each output value. Errors:
// kInvalidArgument if no input is float64, or `f` draws at random; kInternal for a wrong gradient,
// with the input, the place and both values; those of torch.
Status GradCheck(const Function& f, const std::vector<at::Tensor>& inputs,
                 const GradCheckOptions& options = {});

}  // namespace stoker
