// Opens the device that computes.
//
// The program links libtorch's CPU library only. If an NVIDIA driver is present, libtorch_cuda.so
// is loaded at run time and registers its kernels. This must happen before torch is first asked for
// CUDA, because ATen remembers its first answer: call OpenDevice before making the first tensor.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

struct OpenedDevice {
  c10::Device device = c10::kCPU;
  std::string description;  // "cpu (AVX512)", "cuda:0"
  std::string note;         // why `auto` did not use an accelerator; else empty

  bool is_cpu() const { return device.is_cpu(); }
};

// Opens what `wanted` names:
//   auto    the first CUDA device, else the CPU
//   cpu     the CPU
//   cuda    the first CUDA device; cuda:N: device N, from 0
// May be called again; the libraries are loaded once. Not before another thread uses torch. Errors:
// kInvalidArgument for another name or a number that does not exist; kUnavailable if cuda is asked
// for and there is no driver, no libtorch_cuda.so, or it does not load: the message says which;
// kFailedPrecondition if torch was used before.
Result<OpenedDevice> OpenDevice(std::string_view wanted);

// Waits until the device has finished all submitted work; does nothing on the CPU. For timing.
void Synchronize(c10::Device device);

}  // namespace stoker
