// Batch norm over the rows of several ranks, of torch's own parts.
#pragma once

#include <ATen/core/Tensor.h>

#include "stoker/train/kernels/norm_relu_pool.h"

namespace stoker {

// What errors say of a batch that has no variance, and what to do.
inline constexpr const char* kOneValueOfAChannel =
    "batch norm needs more than one value a channel while training";
inline constexpr const char* kMoreSamplesForNorms =
    "give `batch` a larger size, or where only the last batch of an epoch is too small, "
    "`drop_remainder: true`; of processes that share the rows of a batch and not their norms "
    "(train.distributed.sync_batch_norm) each needs two rows";

// Computes batch_norm(x) in training with the mean and variance of all ranks' rows, and moves the
// running moments, alike on all ranks. Gradients are those of the sum of all ranks' losses: for x
// whole, for weight and bias this rank's share, which are summed with all other gradients.
//   x      [rows, channels, ...], of any floating type and layout; may have no rows
//   state  REQUIRES: training, state.ranks. Its tensors may be undefined: no weight and bias, no
//          running moments
// No second derivatives. Errors are torch's exceptions: fewer than two values a channel on all
// ranks together, a lost rank.
at::Tensor RankedNorm(const at::Tensor& x, const NormState& state);

// Moves the running moments of `state`, if it has any, towards those of a batch. REQUIRES: at least
// two values a channel.
void MoveRunningMoments(const NormState& state, const ChannelMoments& batch);

// Throws c10::Error if the moments of a batch were taken of fewer than two values a channel.
//   x  the part of this process, for the message
void CheckCount(const ChannelMoments& batch, const at::Tensor& x);

}  // namespace stoker
