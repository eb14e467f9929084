#include "stoker/train/step/forward_state.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "stoker/device/torch_error.h"
#include "stoker/train/step/random_state.h"

namespace stoker {

// The buffers are grouped by type, so that an accelerator copies each group in few launches.
ForwardState::ForwardState(Model& model, c10::Device device) : device_(device) {
  for (const at::Tensor& buffer : model.buffers()) {
    const auto list = std::ranges::find_if(buffers_, [&](const std::vector<at::Tensor>& tensors) {
      return tensors.front().scalar_type() == buffer.scalar_type();
    });
    if (list == buffers_.end()) {
      buffers_.push_back({buffer});
    } else {
      list->push_back(buffer);
    }
  }
}

Status ForwardState::Take() {
  return CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    random_ = TakeRandomState(device_);
    if (copies_.empty()) {
      for (const std::vector<at::Tensor>& list : buffers_) {
        std::vector<at::Tensor>& copies = copies_.emplace_back();
        for (const at::Tensor& buffer : list) copies.push_back(at::empty_like(buffer));
      }
    }
    for (size_t i = 0; i < buffers_.size(); ++i) at::_foreach_copy_(copies_[i], buffers_[i]);
  });
}

Status ForwardState::Restore() const {
  return CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < buffers_.size(); ++i) at::_foreach_copy_(buffers_[i], copies_[i]);
    PutRandomState(random_, device_);
  });
}

}  // namespace stoker
