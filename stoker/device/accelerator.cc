#include "stoker/device/accelerator.h"

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Version.h>
#include <dlfcn.h>

#include <charconv>
#include <filesystem>

#include "stoker/base/short_text.h"

namespace stoker {
namespace {

// Handles are kept open for the life of the process: torch registers kernels that live in them.
bool CanLoad(const std::string& library, std::string& error) {
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
  const char* reason = dlerror();
  error = reason == nullptr ? "unknown" : reason;
  return false;
}

// The folder of the libtorch_cpu.so that this process runs with.
std::filesystem::path TorchFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&at::get_cpu_capability), &info) == 0) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

// How many devices the driver sees, whatever torch believes; 0 if it cannot say.
int DevicesOfTheDriver() {
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(RTLD_DEFAULT, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0) return 0;
  return devices;
}

// Ok where CUDA kernels are registered and the driver sees a device.
Status LoadCuda() {
  std::string error;
  if (!CanLoad("libcuda.so.1", error)) {
    return Unavailable("no NVIDIA driver on this machine ({}); install one, or take cpu or auto",
                       error);
  }
  const std::string library = (TorchFolder() / "libtorch_cuda.so").string();
  if (!CanLoad(library, error)) {
    return Unavailable(
        "{} does not load ({}); install the whole torch package, with its CUDA libraries", library,
        error);
  }
  if (at::hasCUDA()) return OkStatus();
  if (DevicesOfTheDriver() > 0) {
    return FailedPrecondition(
        "torch was used before its CUDA kernels were loaded, and remembers that there are none; "
        "call OpenDevice before the program's first tensor");
  }
  return Unavailable("the NVIDIA driver reports no device that torch can use; see nvidia-smi");
}

const Status& CudaStatus() {
  static const Status status = LoadCuda();
  return status;
}

// The N of "cuda:N"; 0 for "cuda".
Result<int> CudaIndex(std::string_view wanted) {
  if (wanted == "cuda") return 0;
  constexpr std::string_view kPrefix = "cuda:";
  int index = -1;
  if (wanted.starts_with(kPrefix)) {
    const char* end = wanted.data() + wanted.size();
    const auto parsed = std::from_chars(wanted.data() + kPrefix.size(), end, index);
    if (parsed.ec != std::errc() || parsed.ptr != end) index = -1;
  }
  if (index < 0) {
    return InvalidArgument("device '{}' is unknown; it must be auto, cpu, cuda or cuda:N",
                           ShortText(wanted));
  }
  return index;
}

OpenedDevice Cpu(std::string note = {}) {
  return {.device = c10::kCPU,
          .description = "cpu (" + at::get_cpu_capability() + ")",
          .note = std::move(note)};
}

OpenedDevice Cuda(int index) {
  const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  return {.device = device, .description = device.str(), .note = {}};
}

}  // namespace

Result<OpenedDevice> OpenDevice(std::string_view wanted) {
  if (wanted == "cpu") return Cpu();
  if (wanted == "auto") {
    if (CudaStatus().ok()) return Cuda(0);
    // No driver is the normal case; a driver without kernels deserves a word.
    const bool driver = CudaStatus().message().find("no NVIDIA driver") == std::string::npos;
    return Cpu(driver ? CudaStatus().message() : "");
  }
  STOKER_ASSIGN_OR_RETURN(const int index, CudaIndex(wanted));
  STOKER_RETURN_IF_ERROR(CudaStatus().While("opening device " + std::string(wanted)));
  const int devices = at::accelerator::deviceCount();
  if (index >= devices) {
    return InvalidArgument("device '{}': there are {} CUDA devices, numbered from 0", wanted,
                           devices);
  }
  return Cuda(index);
}

void Synchronize(c10::Device device) {
  if (!device.is_cpu()) at::accelerator::synchronizeDevice(device.index());
}

}  // namespace stoker
