// Precision: the number format in which a model computes. Weights, gradients and the optimizer's
// state are always float32; autocast runs operators that tolerate it (convolutions, linear layers)
// in 16 bits, and the others in float32.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "stoker/run/choices.h"

namespace stoker {

// While it lives, enables autocast for the device's operators on this thread; none for float32. It
// caches casts of weights until the outermost scope ends, so use one scope for one pass through the
// model, or for many without gradients.
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

// Returns the type of this thread's autocast for such a device; kFloat32 without autocast.
Precision PrecisionNow(c10::DeviceType device);

// Allows or forbids TF32 (19 bits, on NVIDIA's tensor cores since Ampere) for float32 matrices and
// convolutions in the whole process. Has no effect on other devices.
void AllowTf32(bool allow);

}  // namespace stoker
