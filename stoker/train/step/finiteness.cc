#include "stoker/train/step/finiteness.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "stoker/train/core/row_gradient.h"
#include "stoker/train/step/layer_trace.h"

namespace stoker {

bool GradientsAreFinite(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = GradientValues(parameters);
  if (gradients.empty()) return true;
  at::Tensor broken = at::zeros({1}, gradients.front().options().dtype(at::kFloat));
  const at::Tensor one = at::ones({1}, broken.options());
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, broken, one);
  return broken.item<float>() == 0;
}

// The largest magnitude is a NaN or an infinity where any value is.
std::string FirstNotFinite(const NamedTensors& tensors) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> values;
  std::vector<const std::string*> names;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_floating_point() || tensor.numel() == 0) continue;
    values.push_back(tensor.detach());
    names.push_back(&name);
  }
  if (values.empty()) return "";
  std::vector<at::Tensor> largest =
      at::_foreach_norm(values, std::numeric_limits<double>::infinity());
  for (at::Tensor& each : largest) each = each.to(at::kFloat);
  const at::Tensor finite = at::isfinite(at::stack(largest)).to(at::kCPU);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!finite.data_ptr<bool>()[i]) return *names[i];
  }
  return "";
}

Status CheckFinite(const Inputs& one, std::string_view field, const SampleKey& batch,
                   const RowNames& names) {
  const std::vector<int64_t> samples = SamplesNotFinite(one);
  if (samples.empty()) return OkStatus();
  return DataLoss("{} in {} (train.input is {}). {}", kInputNotFinite, names(batch, samples), field,
                  kFiniteInput);
}

}  // namespace stoker
