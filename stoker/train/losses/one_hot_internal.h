// Class numbers as scores of 0 and 1.
#pragma once

#include <ATen/core/Tensor.h>

namespace stoker {

// 1 at each sample's class, 0 elsewhere, shaped, typed and placed as `scores` [samples, classes].
// Where there is one column, it is the class number itself. Throws c10::Error for a class that does
// not exist.
at::Tensor OneHot(const at::Tensor& target, const at::Tensor& scores);

}  // namespace stoker
