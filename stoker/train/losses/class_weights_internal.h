// Weights of classes, as options give them and tensors take them.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace stoker {

// [classes], of the type and on the device of `like`. Throws c10::Error, with what to do, where
// there are not as many weights as classes.
at::Tensor ClassWeights(const std::vector<double>& weights, int64_t classes,
                        const at::Tensor& like);

// The sum of the weights of the samples' classes. A class that does not exist counts nothing: the
// loss itself has refused it.
double SumOfWeights(const std::vector<double>& weights, const at::Tensor& target);

}  // namespace stoker
