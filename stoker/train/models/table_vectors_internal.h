// The rows of a table that ids name, each times a number.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/embedding.h>

namespace stoker {

// Returns counts * the vectors of the ids: [..., width]. With the table's option `sparse` ids that
// count 0 are no uses of a row, so a lazy optimizer leaves it alone.
//   ids     int64, each a row of the table
//   counts  of the same shape; numbers or bool
at::Tensor CountedVectors(torch::nn::Embedding table, const at::Tensor& ids,
                          const at::Tensor& counts);

}  // namespace stoker
