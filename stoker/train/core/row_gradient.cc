#include "stoker/train/core/row_gradient.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <functional>

#include "stoker/train/core/model.h"

namespace stoker {
namespace {

// Whether the rows are in order already. The kernels make them so, but the flag that says it does
// not survive torch's AccumulateGrad.
bool AreInOrder(const at::Tensor& gradient) {
  const at::Tensor rows = RowsOf(gradient);
  if (!rows.is_cpu() || !rows.is_contiguous()) return false;
  const auto* const begin = rows.const_data_ptr<int64_t>();
  const auto* const end = begin + rows.numel();
  return std::adjacent_find(begin, end, std::greater_equal<>()) == end;
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
  bool any = false;
  const auto set = [&](auto& options, bool possible) {
    const bool wanted =
        updates == RowUpdates::kLazy ||
        (updates == RowUpdates::kSame && options.num_embeddings() >= kLeastRowsOfTable);
    options.sparse(possible && wanted);
    any |= possible && wanted;
  };
  for (const std::shared_ptr<torch::nn::Module>& module : model.modules(/*include_self=*/false)) {
    if (auto* table = module->as<torch::nn::EmbeddingImpl>()) set(table->options, true);
    auto* bag = module->as<torch::nn::EmbeddingBagImpl>();
    if (bag == nullptr) continue;
    // torch has no such gradient of the greatest values.
    set(bag->options, !std::holds_alternative<torch::enumtype::kMax>(bag->options.mode()));
  }
  // Else torch warns that it does not check such tensors.
  if (any) at::globalContext().setCheckSparseTensorInvariants(false);
  return any;
}

}  // namespace stoker
