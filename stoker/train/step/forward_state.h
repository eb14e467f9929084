// ForwardState: what forward passes change for good, so that those of a step that comes to nothing
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

  // Copies both, a few kilobytes beside the buffers, into memory that the next call uses again.
  // Errors: those of torch.
  Status Take();

  // Restores what the last Take has copied; may be called any number of times after it.
  Status Restore() const;

 private:
  c10::Device device_;
  std::vector<at::Tensor> random_;
  std::vector<std::vector<at::Tensor>> buffers_, copies_;  // grouped by type
};

}  // namespace stoker
