// Which device computes.
//
// The program links libtorch's CPU library only. Where an NVIDIA driver is present,
// libtorch_cuda.so is loaded at run time and its kernels register themselves. That must happen
// before anything asks torch whether CUDA is there, since ATen remembers its first answer: so a
// program calls OpenDevice before it makes its first tensor.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

struct OpenedDevice {
  c10::Device device = c10::kCPU;
  std::string description;  // "cpu (AVX512)", "cuda:0"
  std::string note;         // where `auto` passed over an accelerator: why; else empty

  bool is_cpu() const { return device.is_cpu(); }
};

// Opens what `wanted` names:
//   auto    the first CUDA device, else the CPU
//   cpu     the CPU
//   cuda    the first CUDA device; cuda:N: device N, from 0
// May be called again; the libraries are loaded once. Not before another thread uses torch.
// Errors: kInvalidArgument for another name or a number that does not exist; kUnavailable where
// cuda is asked for and there is no driver, no libtorch_cuda.so, or it does not load: the message
// says which; kFailedPrecondition where torch was used before.
Result<OpenedDevice> OpenDevice(std::string_view wanted);

// Waits until the device has done all that was asked of it; nothing to do on the CPU. For timing.
void Synchronize(c10::Device device);

}  // namespace stoker
