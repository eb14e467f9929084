#include "stoker/train/core/row_gradient.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <functional>

#include "stoker/train/core/model.h"

namespace stoker {
namespace {

// A table with fewer rows is in the caches, and a step uses most of it.
constexpr int64_t kLargeTable = 4096;

// Whether the rows are in order already, as the kernels make them: torch forgets it on the way.
bool AreInOrder(const at::Tensor& gradient) {
  const at::Tensor rows = RowsOf(gradient);
  if (!rows.is_cpu()) return false;
  const auto* const begin = rows.const_data_ptr<int64_t>();
  return std::is_sorted(begin, begin + rows.numel(), std::less_equal<>());
}

}  // namespace

std::vector<at::Tensor> GradientValues(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> values;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) values.push_back(ValuesOfGradient(parameter.grad()));
  }
  return values;
}

void JoinRows(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || !IsOfRows(gradient) || gradient.is_coalesced()) continue;
    if (AreInOrder(gradient))
      gradient._coalesced_(true);
    else
      parameter.mutable_grad() = gradient.coalesce();
  }
}

bool UseRowGradients(Model& model, RowUpdates updates) {
  const bool lazy = updates == RowUpdates::kLazy;
  const auto wanted = [&](int64_t rows) {
    return lazy || (updates == RowUpdates::kSame && rows >= kLargeTable);
  };
  bool any = false;
  for (const std::shared_ptr<torch::nn::Module>& module : model.modules(/*include_self=*/false)) {
    if (auto* table = module->as<torch::nn::EmbeddingImpl>();
        table != nullptr && wanted(table->options.num_embeddings())) {
      table->options.sparse(true);
      any = true;
    } else if (auto* bag = module->as<torch::nn::EmbeddingBagImpl>();
               bag != nullptr && wanted(bag->options.num_embeddings()) &&
               !std::holds_alternative<torch::enumtype::kMax>(bag->options.mode())) {
      bag->options.sparse(true);
      any = true;
    }
  }
  // Else torch warns that it does not check such tensors.
  if (any) at::globalContext().setCheckSparseTensorInvariants(false);
  return any;
}

}  // namespace stoker
