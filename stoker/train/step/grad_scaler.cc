#include "stoker/train/step/grad_scaler.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "stoker/train/core/row_gradient.h"

namespace stoker {
GradScaler::GradScaler(c10::Device device, const GradScalerOptions& options)
    : options_(options),
      scale_(at::full({}, options.start, at::TensorOptions(device).dtype(at::kFloat))),
      clean_(at::zeros({}, at::TensorOptions(device).dtype(at::kInt))),
      found_(at::zeros({1}, at::TensorOptions(device).dtype(at::kFloat))),
      skipped_(at::zeros({}, at::kLong)) {}

void GradScaler::Unscale(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> gradients = GradientValues(parameters);
  found_.zero_();
  if (gradients.empty()) return;
  // As torch does: the reciprocal in double, so that powers of two stay exact.
  const at::Tensor inverse = scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_, inverse);
}

bool GradScaler::finite() const { return found_.item<float>() == 0; }

GradScaler::Verdict GradScaler::Update(bool finite) {
  const at::NoGradGuard no_grad;
  // A skipped step sets `clean_` to 0, and only that leaves the scale at the floor.
  const bool at_floor = !finite && scale() <= options_.floor && clean_.item<int>() == 0;
  at::_amp_update_scale_(scale_, clean_, found_, options_.growth, options_.backoff,
                         options_.growth_interval);
  if (finite) return Verdict::kMove;
  scale_.clamp_min_(options_.floor);
  if (at_floor) return Verdict::kHopeless;
  set_skipped(skipped() + 1);
  return Verdict::kSkip;
}

NamedTensors GradScaler::State() const {
  return {{"scale", scale_}, {"clean", clean_}, {"skipped", skipped_}};
}

}  // namespace stoker
