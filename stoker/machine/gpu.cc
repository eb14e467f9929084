#include "stoker/machine/gpu.h"

#include <array>
#include <cstdint>
#include <utility>

#include "stoker/machine/library.h"

namespace stoker {
namespace {

// Our own declarations of what is used of NVML, whose C interface keeps its types from release to
// release.
using NvmlReturn = int;  // 0: success
using NvmlDevice = struct NvmlDeviceOpaque*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
constexpr int kGpuSensor = 0;

// Of the bits of "clocks throttle reasons", those that mean that the GPU would run faster.
constexpr std::pair<unsigned long long, const char*> kReasons[] = {
    {0x04, "power"},              // the software limit of power
    {0x08, "hardware slowdown"},  // heat or power, by the hardware
    {0x20, "heat"},               // software
    {0x40, "heat"},               // hardware
    {0x80, "power brake"},
};

struct Nvml {
  NvmlReturn (*init)();
  NvmlReturn (*shutdown)();
  const char* (*error_string)(NvmlReturn);
  NvmlReturn (*driver_version)(char*, unsigned);
  NvmlReturn (*count)(unsigned*);
  NvmlReturn (*handle)(unsigned, NvmlDevice*);
  NvmlReturn (*name)(NvmlDevice, char*, unsigned);
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*);
  NvmlReturn (*temperature)(NvmlDevice, int, unsigned*);
  NvmlReturn (*throttle_reasons)(NvmlDevice, unsigned long long*);
};

Result<Nvml> FindNvml(const SharedLibrary& library) {
  Nvml nvml = {};
  STOKER_RETURN_IF_ERROR(library.Find("nvmlInit_v2", nvml.init));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlShutdown", nvml.shutdown));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlErrorString", nvml.error_string));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlSystemGetDriverVersion", nvml.driver_version));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlDeviceGetCount_v2", nvml.count));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlDeviceGetHandleByIndex_v2", nvml.handle));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlDeviceGetName", nvml.name));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlDeviceGetMemoryInfo", nvml.memory));
  STOKER_RETURN_IF_ERROR(library.Find("nvmlDeviceGetTemperature", nvml.temperature));
  STOKER_RETURN_IF_ERROR(
      library.Find("nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons));
  return nvml;
}

// A figure that a GPU does not have (a MIG slice has no temperature) is left out.
GpuFacts Describe(const Nvml& nvml, NvmlDevice device) {
  GpuFacts gpu;
  std::array<char, 128> name = {};
  if (nvml.name(device, name.data(), name.size() - 1) == 0) gpu.name = name.data();
  NvmlMemory memory = {};
  if (nvml.memory(device, &memory) == 0) {
    gpu.memory_bytes = static_cast<int64_t>(memory.total);
    gpu.memory_used_bytes = static_cast<int64_t>(memory.used);
  }
  unsigned celsius = 0;
  if (nvml.temperature(device, kGpuSensor, &celsius) == 0)
    gpu.temperature_c = static_cast<int>(celsius);
  unsigned long long reasons = 0;
  if (nvml.throttle_reasons(device, &reasons) != 0) return gpu;
  for (const auto& [bit, reason] : kReasons) {
    const bool known = !gpu.slowed_by.empty() && gpu.slowed_by.back() == reason;
    if ((reasons & bit) != 0 && !known) gpu.slowed_by.emplace_back(reason);
  }
  return gpu;
}

Gpus ReadAll(const Nvml& nvml) {
  Gpus found;
  std::array<char, 96> version = {};
  if (nvml.driver_version(version.data(), version.size() - 1) == 0) found.driver = version.data();
  unsigned count = 0;
  if (const NvmlReturn error = nvml.count(&count); error != 0) {
    found.none = fmt::format("NVML: {}", nvml.error_string(error));
    return found;
  }
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    if (const NvmlReturn error = nvml.handle(i, &device); error != 0) {
      found.none = fmt::format("NVML: GPU {}: {}", i, nvml.error_string(error));
      continue;
    }
    found.gpus.push_back(Describe(nvml, device));
  }
  if (found.gpus.empty() && found.none.empty()) found.none = "NVML: the driver has no GPU";
  return found;
}

}  // namespace

Gpus ReadGpus(const std::string& file) {
  const Result<SharedLibrary> library = SharedLibrary::Load(file);
  if (!library.ok()) return {.none = "no NVML: " + library.status().message()};
  const Result<Nvml> nvml = FindNvml(*library);
  if (!nvml.ok()) return {.none = "NVML is too old: " + nvml.status().message()};
  if (const NvmlReturn error = nvml->init(); error != 0)
    return {.none = fmt::format("NVML: {}", nvml->error_string(error))};
  Gpus found = ReadAll(*nvml);
  nvml->shutdown();
  return found;
}

}  // namespace stoker
