// Losses: how wrong a batch of scores is.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "stoker/base/status.h"

namespace stoker {

// Cross-entropy of softmax(scores) against class numbers, averaged over the samples.
//   scores  float, [samples, classes], before softmax
//   target  int64, [samples], 0 <= value < classes
// Returns a scalar that can be differentiated. Throws c10::Error on wrong shapes and values.
at::Tensor CrossEntropy(const at::Tensor& scores, const at::Tensor& target);

// What is wrong with `target` for so many classes: names the first sample whose class number does
// not exist. Ok where nothing is. Reads the target back from its device: for error messages only.
Status CheckTarget(const at::Tensor& target, int64_t classes);

}  // namespace stoker
