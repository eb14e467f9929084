// Precision: in which number format a model computes. Weights, gradients and the optimizer's state
// are float32 in all of them; autocast has those operators compute in 16 bits that stand it
// (convolutions, linear layers), and the others in float32.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "stoker/run/choices.h"

namespace stoker {

// Autocast for the device's operators on this thread, while it lives: none for float32. The casts
// of weights that it has made are kept until the outermost one is gone, so one scope is for one
// pass through the model, or for many without gradients.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, c10::DeviceType device);
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;
  ~PrecisionScope();

 private:
  const bool active_;
  const c10::DeviceType device_;
  bool enabled_before_ = false;
  c10::ScalarType type_before_ = c10::kFloat;
};

// What this thread's autocast computes in for such a device: kFloat32 where there is none.
Precision PrecisionNow(c10::DeviceType device);

// Whether float32 matrices and convolutions may be multiplied as TF32 (19 bits, on NVIDIA's tensor
// cores since Ampere); for the whole process. Means nothing to other devices.
void AllowTf32(bool allow);

}  // namespace stoker
