#include "stoker/machine/live/gpu_meter.h"

#include <utility>

namespace stoker {
namespace {

// The figure that `ask` returns; nothing if there is no such function or the GPU has no such
// figure.
template <typename Ask, typename... Known>
std::optional<unsigned> Asked(Ask* ask, NvmlDevice device, Known... known) {
  unsigned value = 0;
  if (ask == nullptr || ask(device, known..., &value) != 0) return std::nullopt;
  return value;
}

std::optional<double> Watts(const std::optional<unsigned>& milliwatts) {
  if (!milliwatts) return std::nullopt;
  return 1e-3 * static_cast<double>(*milliwatts);
}

GpuSample SampleOf(const Nvml& nvml, NvmlDevice device) {
  GpuSample gpu{.name = nvml.NameOf(device)};
  if (nvml.compute_capability == nullptr ||
      nvml.compute_capability(device, &gpu.compute_major, &gpu.compute_minor) != 0)
    gpu.compute_major = gpu.compute_minor = 0;
  NvmlUtilization used = {};
  if (nvml.utilization != nullptr && nvml.utilization(device, &used) == 0)
    gpu.used = 0.01 * static_cast<double>(used.gpu);
  gpu.power_w = Watts(Asked(nvml.power_mw, device));
  gpu.power_limit_w = Watts(Asked(nvml.power_limit_mw, device));
  NvmlMemory memory = {};
  if (nvml.memory(device, &memory) == 0) {
    gpu.memory_bytes = static_cast<int64_t>(memory.total);
    gpu.memory_used_bytes = static_cast<int64_t>(memory.used);
  }
  gpu.temperature_c = Asked(nvml.temperature, device, kNvmlGpuSensor);
  gpu.clock_mhz = Asked(nvml.clock_mhz, device, kNvmlSmClock);
  gpu.most_clock_mhz = Asked(nvml.most_clock_mhz, device, kNvmlSmClock);
  gpu.slowed_by = nvml.SlowedBy(device);
  return gpu;
}

}  // namespace

GpuMeter::GpuMeter(const std::string& file) {
  Result<Nvml> nvml = Nvml::Load(file);
  if (!nvml.ok()) {
    problem_ = nvml.status().message();
    return;
  }
  nvml_.emplace(*std::move(nvml));
  Result<std::vector<NvmlDevice>> devices = nvml_->Devices(problem_);
  if (devices.ok())
    devices_ = *std::move(devices);
  else
    problem_ = devices.status().message();
}

std::vector<GpuSample> GpuMeter::Read() const {
  std::vector<GpuSample> samples;
  for (const NvmlDevice device : devices_) samples.push_back(SampleOf(*nvml_, device));
  return samples;
}

}  // namespace stoker
