// Layers that are more than their input in training: their result depends on all rows of a batch,
// or on draws. A model uses these instead of torch's, so that several ranks compute what one does.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/batchnorm.h>

#include "stoker/base/status.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/training_pass.h"
#include "stoker/train/kernels/ranked_norm.h"

namespace stoker {

// Counts the batch, as torch's norms do, and returns the state of a torch::nn::BatchNorm1d, 2d or
// 3d for this pass.
template <typename Norm>
NormState StateForPass(Norm& norm) {
  NormState state{.weight = norm.weight,
                  .bias = norm.bias,
                  .running_mean = norm.running_mean,
                  .running_var = norm.running_var,
                  .momentum = norm.options.momentum().value_or(0),
                  .eps = norm.options.eps(),
                  .training = norm.is_training()};
  if (!state.training) return state;
  if (const TrainingPass* const pass = TrainingPass::Now()) state.ranks = pass->norm_ranks();
  if (!norm.num_batches_tracked.defined()) return state;
  norm.num_batches_tracked += 1;
  if (!norm.options.momentum())  // the mean of all batches
    state.momentum = 1 / norm.num_batches_tracked.template item<double>();
  return state;
}

// Throws c10::Error, with what to do, for one value a channel, [1, channels] or [1, channels, 1,
// 1], which has no variance.
void CheckValuesOfChannels(const at::Tensor& x);

// Returns whether it is such an error, torch's own included.
bool MeetsOneValueOfAChannel(const Status& status);

// Returns norm(x). In training, where the ranks of a run share statistics
// (train.distributed.sync_batch_norm), with the mean and variance of all ranks' rows. Throws
// c10::Error in training if there are fewer than two values a channel.
//   norm  a torch::nn::BatchNorm1d, 2d or 3d
template <typename Norm>
at::Tensor BatchNorm(Norm& norm, const at::Tensor& x) {
  if (!norm.is_training()) return norm.forward(x);
  const TrainingPass* const pass = TrainingPass::Now();
  if (pass == nullptr || !pass->norm_ranks()) {
    CheckValuesOfChannels(x);
    return norm.forward(x);
  }
  return RankedNorm(x, StateForPass(norm));
}

// Returns how many batch norms `model` has that are in training.
int64_t CountBatchNorms(const Model& model);

// Returns x with each value set to zero with this probability, and divided by 1 - probability
// otherwise; x itself outside training.
//
// On the CPU, in a pass of a run, what is drawn for a row is a function of the run's seed, the
// step, the number of this call in the pass, and the row's place in the batch of all ranks: so it
// is the same for any number of ranks and threads, and after a resume. Philox-4x32-10
// (base/random.h), 16 bits a value: the probability is rounded to a multiple of 2^-16. Elsewhere
// the draws are those of torch's generators.
//   x  [rows, ...]
at::Tensor Dropout(const at::Tensor& x, double probability, bool training);

}  // namespace stoker
