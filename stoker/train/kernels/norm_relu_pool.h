// Batch norm, ReLU and 2x2 max pool in one, for the CPU.
//
// libtorch passes over a block's activations about ten times for these three, forward and backward;
// here it is two passes each way, of which one reads a quarter.
#pragma once

#include <ATen/core/Tensor.h>

namespace stoker {

// What a torch::nn::BatchNorm2d holds and is told.
struct NormState {
  at::Tensor weight, bias;               // float [channels]
  at::Tensor running_mean, running_var;  // likewise; moved while training
  double momentum = 0.1;
  double eps = 1e-5;
  bool training = false;  // the batch's own statistics; otherwise the running ones
};

// Whether NormReluPool takes `x`: float, [images, channels, height, width] in channels-last order,
// in CPU memory, with at least one window of 2x2 pixels.
bool CanNormReluPool(const at::Tensor& x);

// max_pool2d(relu(batch_norm(x)), 2), and its gradients for x, weight and bias.
//   x  as CanNormReluPool wants it, at least two values a channel while training
// Returns float [images, channels, height / 2, width / 2], channels-last. Statistics are summed
// in floats over 128 pixels, then in doubles, and in one order, so the number of threads changes no
// bit. Second derivatives are not offered. Errors are torch's exceptions.
at::Tensor NormReluPool(const at::Tensor& x, const NormState& state);

}  // namespace stoker
