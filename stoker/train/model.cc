#include "stoker/train/model.h"

namespace stoker {
namespace {

template <typename Items>
void Append(const Items& items, NamedTensors& out) {
  for (const auto& item : items) out.push_back({item.key(), item.value()});
}

}  // namespace

NamedTensors ParametersOf(const Model& model) {
  NamedTensors tensors;
  Append(model.named_parameters(), tensors);
  return tensors;
}

NamedTensors StateOf(const Model& model) {
  NamedTensors tensors = ParametersOf(model);
  Append(model.named_buffers(), tensors);
  return tensors;
}

int64_t CountParameters(const Model& model) {
  int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace stoker
