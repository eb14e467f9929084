// GradScaler: keeps small gradients from vanishing in float16. The loss is multiplied by a scale
// before the backward pass and the gradients divided by it afterwards; a step whose gradients hold
// an infinity or a NaN is skipped and the scale halved, after many steps without one it is doubled.
//
// Source: Micikevicius et al., "Mixed Precision Training", arXiv 1710.03740, 3.2; the numbers are
// those of torch.amp.GradScaler.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "stoker/base/status.h"
#include "stoker/train/named_tensor.h"

namespace stoker {

struct GradScalerOptions {
  double start = 65536;
  double growth = 2;
  double backoff = 0.5;
  int64_t growth_interval = 2000;  // steps without an infinity before the scale grows
};

// One thread at a time. Functions throw c10::Error, but for Update.
class GradScaler {
 public:
  // The scale lies on `device`.
  GradScaler(c10::Device device, const GradScalerOptions& options = {});

  at::Tensor Scale(const at::Tensor& loss) const { return loss * scale_; }

  // Divides the gradients by the scale, on the device. To be followed by Update before the next.
  void Unscale(const std::vector<at::Tensor>& parameters);

  // Whether the gradients are finite, so that the step may be made; waits for the device. Adapts
  // the scale. Errors: kFailedPrecondition where the scale has become so small that gradients would
  // vanish: they are not finite for another reason.
  Result<bool> Update();

  // Waits for the device.
  double scale() const { return scale_.item<double>(); }
  int64_t skipped() const { return *skipped_.data_ptr<int64_t>(); }

  // Scale and counters, sharing memory: for a checkpoint.
  NamedTensors State() const;

 private:
  const GradScalerOptions options_;
  at::Tensor scale_;    // float32 scalar
  at::Tensor clean_;    // int32 scalar: steps since the scale has changed
  at::Tensor found_;    // float32 [1]: 1 where a gradient was not finite
  at::Tensor skipped_;  // int64 scalar on the CPU
};

}  // namespace stoker
