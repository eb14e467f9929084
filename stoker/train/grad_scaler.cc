#include "stoker/train/grad_scaler.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

// Gradients of a loss scaled by less than this could as well be computed in bfloat16, whose range
// is that of float32.
constexpr double kSmallestScale = 1e-6;

}  // namespace

GradScaler::GradScaler(c10::Device device, const GradScalerOptions& options)
    : options_(options),
      scale_(at::full({}, options.start, at::TensorOptions(device).dtype(at::kFloat))),
      clean_(at::zeros({}, at::TensorOptions(device).dtype(at::kInt))),
      found_(at::zeros({1}, at::TensorOptions(device).dtype(at::kFloat))),
      skipped_(at::zeros({}, at::kLong)) {}

void GradScaler::Unscale(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  found_.zero_();
  if (gradients.empty()) return;
  // As torch does: the reciprocal in double, so that powers of two stay exact.
  const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_, inverse);
}

Result<bool> GradScaler::Update() {
  bool finite = false;
  double scale = 0;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    finite = found_.item<double>() == 0;
    at::_amp_update_scale_(scale_, clean_, found_, options_.growth, options_.backoff,
                           options_.growth_interval);
    if (!finite) scale = scale_.item<double>();
  }));
  if (finite) return true;
  ++*skipped_.data_ptr<int64_t>();
  if (scale >= kSmallestScale) return false;
  return FailedPrecondition(
      "gradients in float16 are not finite, although the loss was scaled by as little as {:.3g}; "
      "train with precision bf16 or float32, or with a lower rate",
      scale);
}

NamedTensors GradScaler::State() const {
  return {{"scale", scale_}, {"clean", clean_}, {"skipped", skipped_}};
}

}  // namespace stoker
