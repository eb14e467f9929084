// Gradients of rows: what the tables of embeddings get where the optimizer updates the rows that a
// step uses and no others. Such a gradient is a sparse tensor of torch's whose values are whole
// rows, [rows used, ...], as torch.nn.Embedding(sparse=True) makes it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "stoker/run/optimizer.h"

namespace stoker {

class Model;

inline bool IsOfRows(const at::Tensor& gradient) { return gradient.is_sparse(); }

// Returns the numbers of the rows, ascending, int64 [rows used]. REQUIRES: IsOfRows, and JoinRows
// was called.
inline at::Tensor RowsOf(const at::Tensor& gradient) { return gradient._indices().select(0, 0); }

// Returns the values of a gradient of rows, sharing memory; any other gradient as it is. All other
// values of the gradient are 0.
inline at::Tensor ValuesOfGradient(const at::Tensor& gradient) {
  return IsOfRows(gradient) ? gradient._values() : gradient;
}

// Returns the values of the gradients of those of `parameters` that have one.
std::vector<at::Tensor> GradientValues(const std::vector<at::Tensor>& parameters);

// Makes the gradients of rows have each row once, in ascending order, as their sum. Call it after
// each backward pass.
void JoinRows(const std::vector<at::Tensor>& parameters);

// Where only time is gained, smaller tables keep their whole gradients, which take less then.
inline constexpr int64_t kLeastRowsOfTable = 4096;

// Makes the embeddings of the model (torch::nn::Embedding, EmbeddingBag), whose `sparse` option the
// layers ask, have gradients of rows where `updates` allows it, and whole ones elsewhere. Returns
// whether any has gradients of rows.
bool UseRowGradients(Model& model, RowUpdates updates);

}  // namespace stoker
