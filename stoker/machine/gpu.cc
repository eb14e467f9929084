#include "stoker/machine/gpu.h"

#include <cstdint>
#include <vector>

#include "stoker/machine/nvml.h"

namespace stoker {
namespace {

// A figure that a GPU does not have (a MIG slice has no temperature) is left out.
GpuFacts DescribeGpu(const Nvml& nvml, NvmlDevice device) {
  GpuFacts gpu{.name = nvml.NameOf(device)};
  NvmlMemory memory = {};
  if (nvml.memory(device, &memory) == 0) {
    gpu.memory_bytes = static_cast<int64_t>(memory.total);
    gpu.memory_used_bytes = static_cast<int64_t>(memory.used);
  }
  unsigned celsius = 0;
  if (nvml.temperature(device, kNvmlGpuSensor, &celsius) == 0)
    gpu.temperature_c = static_cast<int>(celsius);
  gpu.slowed_by = nvml.SlowedBy(device);
  return gpu;
}

}  // namespace

Gpus ReadGpus(const std::string& file) {
  const Result<Nvml> nvml = Nvml::Load(file);
  if (!nvml.ok()) return {.none = nvml.status().message()};
  Gpus found{.driver = nvml->DriverVersion()};
  const Result<std::vector<NvmlDevice>> devices = nvml->Devices(found.none);
  if (!devices.ok()) {
    found.none = devices.status().message();
    return found;
  }
  for (const NvmlDevice device : *devices) found.gpus.push_back(DescribeGpu(*nvml, device));
  return found;
}

}  // namespace stoker
