#include "stoker/train/models/table_vectors_internal.h"

#include <ATen/ops/zeros.h>

namespace stoker {

at::Tensor CountedVectors(torch::nn::Embedding table, const at::Tensor& ids,
                          const at::Tensor& counts) {
  const at::Tensor of_values = counts.unsqueeze(-1);
  if (!table->options.sparse()) return table(ids) * of_values;
  std::vector<int64_t> sizes = ids.sizes().vec();
  sizes.push_back(table->weight.size(1));
  const at::Tensor used = table(ids.masked_select(counts.ne(0)));
  return at::zeros(sizes, used.options()).masked_scatter(of_values.ne(0), used) * of_values;
}

}  // namespace stoker
