#include "stoker/train/forward_state.h"

#include <ATen/core/grad_mode.h>

#include "stoker/device/torch_error.h"
#include "stoker/train/random_state.h"

namespace stoker {

Result<ForwardState> ForwardState::Take(Model& model, c10::Device device) {
  ForwardState state(model, device);
  state.random_ = SaveRandomState(device);
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    for (const at::Tensor& buffer : model.buffers()) {
      state.buffers_.push_back(buffer.detach().clone());
    }
  }));
  return state;
}

Status ForwardState::Restore() const {
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    const std::vector<at::Tensor> buffers = model_->buffers();
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i].copy_(buffers_[i]);
  }));
  return RestoreRandomState(random_, device_);
}

}  // namespace stoker
