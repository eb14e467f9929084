#include "stoker/train/loop/host_copy.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

bool IsAlike(const NamedTensor& copy, const NamedTensor& original) {
  return copy.tensor.sizes() == original.tensor.sizes() &&
         copy.tensor.scalar_type() == original.tensor.scalar_type() &&
         copy.tensor.is_pinned() == !original.tensor.is_cpu();
}

NamedTensors MemoryFor(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors) {
    const auto options = at::TensorOptions(tensor.scalar_type()).pinned_memory(!tensor.is_cpu());
    copies.push_back({name, at::empty(tensor.sizes(), options)});
  }
  return copies;
}

}  // namespace

Status HostCopy::Take(const NamedTensors& tensors) {
  return CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    if (!std::ranges::equal(copies_, tensors, IsAlike)) {
      copies_.clear();  // so that there are never two
      copies_ = MemoryFor(tensors);
    }
    std::optional<c10::Device> device;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const at::Tensor& original = tensors[i].tensor;
      copies_[i].name = tensors[i].name;
      copies_[i].tensor.copy_(original.detach(), /*non_blocking=*/true);
      if (!original.is_cpu()) device = original.device();
    }
    done_.reset();
    if (!device) return;
    done_.emplace(device->type());
    done_->record(c10::impl::VirtualGuardImpl(device->type()).getStream(*device));
  });
}

Result<std::vector<NamedArray>> HostCopy::Arrays() const {
  if (done_) STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { done_->synchronize(); }));
  return ToNamedArrays(copies_);
}

}  // namespace stoker
