#include "stoker/train/models/table_vectors_internal.h"

#include <ATen/ops/zeros.h>

namespace stoker {

at::Tensor VectorsWhere(torch::nn::Embedding table, const at::Tensor& ids,
                        const at::Tensor& there) {
  const at::Tensor of_values = there.unsqueeze(-1);
  if (!table->options.sparse()) return table(ids.masked_fill(there.logical_not(), 0)) * of_values;
  std::vector<int64_t> sizes = ids.sizes().vec();
  sizes.push_back(table->weight.size(1));
  const at::Tensor vectors = table(ids.masked_select(there));
  return at::zeros(sizes, vectors.options()).masked_scatter(of_values, vectors);
}

}  // namespace stoker
