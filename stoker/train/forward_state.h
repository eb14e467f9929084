// ForwardState: what forward passes change for good, so that those of a step that comes to nothing
// can be undone.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/train/model.h"

namespace stoker {

// The buffers of a model (batch norm's running means) and torch's random state, as they are when it
// is taken. Gradients are not among them. One thread at a time; does not wait for the device.
class ForwardState {
 public:
  // Copies them: a few kilobytes, and what the buffers hold. The model is borrowed.
  static Result<ForwardState> Take(Model& model, c10::Device device);

  // Gives them back. Any number of times.
  Status Restore() const;

 private:
  ForwardState(Model& model, c10::Device device) : model_(&model), device_(device) {}

  Model* model_;
  c10::Device device_;
  Json random_;
  std::vector<at::Tensor> buffers_;
};

}  // namespace stoker
