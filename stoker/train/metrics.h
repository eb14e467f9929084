// Metrics: how good a batch of scores is, in terms people use.
#pragma once

#include <ATen/core/Tensor.h>

namespace stoker {

// How many samples have their highest score at the target's class. Stays on the device: an int64
// scalar to be added up and read once.
//   scores  [samples, classes]
//   target  int64, [samples]
at::Tensor CountCorrect(const at::Tensor& scores, const at::Tensor& target);

}  // namespace stoker
