// ForwardState: the persistent state that forward passes change, so that those of an aborted step
// can be undone.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <vector>

#include "stoker/base/status.h"
#include "stoker/train/core/model.h"

namespace stoker {

// The buffers of a model (batch norm's running means) and torch's random state, as they were at the
// last Take. Gradients are not among them. One thread at a time; does not wait for the device.
class ForwardState {
 public:
  // The model is borrowed.
  ForwardState(Model& model, c10::Device device);

  // Copies both, a few kilobytes beside the buffers, into memory that calls reuse. Errors: those of
  // torch.
  Status Take();

  // Restores the copies of the last Take; may be called repeatedly.
  Status Restore() const;

 private:
  c10::Device device_;
  std::vector<at::Tensor> random_;
  std::vector<std::vector<at::Tensor>> buffers_, copies_;  // grouped by type
};

}  // namespace stoker
