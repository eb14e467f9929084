// Batch norm, ReLU and 2x2 max pool in one, for the CPU.
//
// libtorch makes about ten passes over a block's activations for these three, forward and backward;
// this makes two in each direction, one of which reads a quarter.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include "stoker/train/kernels/norm_ranks.h"

namespace stoker {

// The state and options of a torch::nn::BatchNorm2d.
struct NormState {
  at::Tensor weight, bias;               // float [channels]
  at::Tensor running_mean, running_var;  // likewise; updated in training
  double momentum = 0.1;
  double eps = 1e-5;
  bool training = false;  // uses the batch's statistics; otherwise the running ones
  // In training the batch is that of all these ranks; null: this process's rows alone.
  c10::intrusive_ptr<NormRanks> ranks = {};
};

// Returns whether NormReluPool accepts `x`: float, [images, channels, height, width] in
// channels-last order, in CPU memory, with at least one window of 2x2 pixels.
bool CanNormReluPool(const at::Tensor& x);

// Computes max_pool2d(relu(batch_norm(x)), 2), with gradients for x, weight and bias; over several
// ranks as RankedNorm (ranked_norm.h).
//   x  CanNormReluPool(x), and at least two values a channel in training
// Returns float [images, channels, height / 2, width / 2], channels-last. Statistics are summed in
// floats over 128 pixels, then in doubles, in a fixed order, so the bits do not depend on the
// number of threads. No second derivatives. Errors are torch's exceptions.
at::Tensor NormReluPool(const at::Tensor& x, const NormState& state);

}  // namespace stoker
