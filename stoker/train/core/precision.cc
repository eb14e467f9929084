#include "stoker/train/core/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>

namespace stoker {

PrecisionScope::PrecisionScope(Precision precision, c10::DeviceType device)
    : active_(precision != Precision::kFloat32), device_(device) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device);
  type_before_ = at::autocast::get_autocast_dtype(device);
  at::autocast::set_autocast_dtype(device,
                                   precision == Precision::kBFloat16 ? at::kBFloat16 : at::kHalf);
  at::autocast::set_autocast_enabled(device, true);
  at::autocast::increment_nesting();
}

PrecisionScope::~PrecisionScope() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, type_before_);
}

Precision PrecisionNow(c10::DeviceType device) {
  if (!at::autocast::is_autocast_enabled(device)) return Precision::kFloat32;
  return at::autocast::get_autocast_dtype(device) == at::kHalf ? Precision::kFloat16
                                                               : Precision::kBFloat16;
}

void AllowTf32(bool allow) {
  at::globalContext().setAllowTF32CuBLAS(allow);
  at::globalContext().setAllowTF32CuDNN(allow);
}

}  // namespace stoker
