// Sums, means, or sums over the root of their number, of the rows of a table that the ids of a
// sample name: an embedding bag
// whose table is much larger than what a batch uses of it, for the CPU.
//
// Of torch's own parts the forward pass waits for memory one row at a time, and the gradient is
// sorted and summed by passes that each run over all of it.
#pragma once

#include <ATen/core/Tensor.h>

#include "stoker/data/core/combine_vectors.h"
#include "stoker/device/inputs.h"

namespace stoker {

struct RowBagOptions {
  int64_t padding = 0;  // an id that counts as none
  CombineVectors combine = CombineVectors::kSum;
};

// Returns float [samples, width]; zeros for a sample without ids. The gradient of the table is one
// of rows (train/core/row_gradient.h); there are no second derivatives. Gives the same bytes on any
// number of threads. REQUIRES: IsPlainTable(table), two-dimensional; `ids` are padding or from 0 to
// below the number of rows, which is not checked.
//   ids  one input, [samples, length] or ragged, int64 in CPU memory
at::Tensor SumRowsOf(const Inputs& ids, const at::Tensor& table, const RowBagOptions& options);

}  // namespace stoker
