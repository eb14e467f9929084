// GradScaler: keeps small gradients from vanishing in float16. The loss is multiplied by a scale
// before the backward pass and the gradients divided by it afterwards; a step whose gradients hold
// an infinity or a NaN is skipped and the scale halved, after many steps without one it is doubled.
// The scale stays above a floor: with a lower scale, bfloat16, which has the range of float32,
// would be better.
//
// Source: Micikevicius et al., "Mixed Precision Training", arXiv 1710.03740, 3.2; the numbers are
// those of torch.amp.GradScaler.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "stoker/train/core/named_tensor.h"

namespace stoker {

struct GradScalerOptions {
  double start = 65536;
  double growth = 2;
  double backoff = 0.5;
  int64_t growth_interval = 2000;  // steps without an infinity before the scale grows
  double floor = 0x1p-20;          // the lowest scale
};

// One thread at a time. Functions throw c10::Error.
class GradScaler {
 public:
  // The scale lies on `device`.
  GradScaler(c10::Device device, const GradScalerOptions& options = {});

  at::Tensor Scale(const at::Tensor& loss) const { return loss * scale_; }

  // Divides the gradients by the scale, on the device.
  void Unscale(const std::vector<at::Tensor>& parameters);
  // Returns whether the gradients of the last Unscale are finite; waits for the device.
  bool finite() const;

  // What to do with a step.
  enum class Verdict {
    kMove,      // its gradients are finite
    kSkip,      // they are not: skip it; the scale is lowered
    kHopeless,  // they are not, like earlier ones, at the lowest scale: scaling cannot help
  };
  // Adapts the scale. Call it once after each Unscale, unless the step is aborted for another
  // reason.
  //   finite  the result of finite()
  Verdict Update(bool finite);

  // Returns the scale; waits for the device.
  double scale() const { return scale_.item<double>(); }
  // Returns the steps skipped so far.
  int64_t skipped() const { return *skipped_.data_ptr<int64_t>(); }
  void set_skipped(int64_t steps) { *skipped_.data_ptr<int64_t>() = steps; }

  // Returns scale and counters, sharing memory: for a checkpoint.
  NamedTensors State() const;

 private:
  const GradScalerOptions options_;
  at::Tensor scale_;    // float32 scalar
  at::Tensor clean_;    // int32 scalar: steps since the scale has changed
  at::Tensor found_;    // float32 [1]: 1 if a gradient was not finite
  at::Tensor skipped_;  // int64 scalar on the CPU
};

}  // namespace stoker
