// Activation checkpointing: a part of a model keeps only its input for the backward pass, and
// computes its activations again when they are needed there. Memory for time: what is inside a
// block is held for one block at a time, and every block goes forward twice.
//
// Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv 1604.06174.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace stoker {

// What is computed again.
struct CheckpointedBlock {
  // One tensor from one. Called in the forward pass and, for each backward pass, once more: what it
  // refers to must live until then.
  std::function<at::Tensor(const at::Tensor&)> body;
  // All that it uses; only these and its input get gradients.
  std::vector<at::Tensor> parameters;
  // All that it changes, such as the running moments of norms: the second pass leaves them alone.
  std::vector<at::Tensor> buffers;
};

// block.body(input), and the same gradients, bit for bit: the second pass draws the same random
// numbers from torch's generators and computes in the same precision (autocast) as the first. No
// second derivatives. Throws what the body throws. Any thread; costs a copy of the generators'
// state (5 kB on the CPU) and, in the backward pass, of the buffers.
at::Tensor RunCheckpointed(CheckpointedBlock block, const at::Tensor& input);

}  // namespace stoker
