// The rows of a table that ids name, where some ids are none.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/embedding.h>

namespace stoker {

// Returns the vectors of the ids that are `there`, and zeros for the others: [..., width]. With the
// table's option `sparse` the others are no uses of a row, so a lazy optimizer leaves it alone.
//   ids    int64; those that are not there may be any number
//   there  bool, of the same shape
at::Tensor VectorsWhere(torch::nn::Embedding table, const at::Tensor& ids, const at::Tensor& there);

}  // namespace stoker
