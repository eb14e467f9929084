// Activation checkpointing: a part of a model keeps only its input for the backward pass, and
// recomputes its activations there. It trades time for memory: activations inside a block are held
// for one block at a time, and every block's forward pass runs twice.
//
// Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv 1604.06174.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace stoker {

// A part of a model that is recomputed.
struct CheckpointedBlock {
  // Maps one tensor to one. Called in the forward pass and again for each backward pass, so
  // everything it refers to must live until then.
  std::function<at::Tensor(const at::Tensor&)> body;
  // All parameters that it uses; only these and its input get gradients.
  std::vector<at::Tensor> parameters;
  // All buffers that it changes, such as the running moments of norms: the second pass does not
  // change them.
  std::vector<at::Tensor> buffers;
};

// Returns block.body(input), with the same gradients, bit for bit: the second pass draws the same
// random numbers from torch's generators and computes in the same precision (autocast) as the
// first. No second derivatives. Throws what the body throws. Thread-safe; costs a copy of the
// generators' state (5 kB on the CPU) and, in the backward pass, of the buffers.
at::Tensor RunCheckpointed(CheckpointedBlock block, const at::Tensor& input);

}  // namespace stoker
