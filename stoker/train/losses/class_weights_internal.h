// Converts weights of classes from options to tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "stoker/base/options.h"
#include "stoker/train/core/loss.h"

namespace stoker {

inline OptionRange WeightRange() { return {.low = 0, .high = kMostWeight, .low_open = true}; }

// Returns [classes], with the type and device of `like`. Throws c10::Error, with what to do, if the
// numbers of weights and classes differ.
at::Tensor ClassWeights(const std::vector<double>& weights, int64_t classes,
                        const at::Tensor& like);

// Returns the sum of the weights of the samples' classes. Ignores invalid classes, which the loss
// itself has refused.
double SumOfWeights(const std::vector<double>& weights, const at::Tensor& target);

}  // namespace stoker
