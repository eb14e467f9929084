// GradCheck: whether a gradient is that of its function. For tests of operators and models of your
// own.
//
//   STOKER_EXPECT_OK(GradCheck([](const auto& in) { return MyNorm(in[0], in[1]); }, {x, weight}));
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

struct GradCheckOptions {
  double step = 1e-6;  // of an input's value, to both sides
  double absolute = 1e-5;
  double relative = 1e-3;
};

using Function = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

// Compares the whole Jacobian that autograd gives with central differences,
// (f(x + step) - f(x - step)) / (2 step), value by value: |analytical - numerical| <= absolute +
// relative |numerical|, the bounds of torch.autograd.gradcheck.
//   f       differentiable, gives the same for the same inputs, a tensor of any shape
//   inputs  float64; copied, so they need not ask for gradients; those of other types are handed
//           over as they are
// Cost: two calls for each input value, one backward pass for each output value. Errors:
// kInvalidArgument where no input is float64, or `f` draws at random; kInternal for a gradient that
// is wrong, with the input, the place and both figures; those of torch.
Status GradCheck(const Function& f, const std::vector<at::Tensor>& inputs,
                 const GradCheckOptions& options = {});

}  // namespace stoker
