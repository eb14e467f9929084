#include "stoker/machine/nvml.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace stoker {
namespace {

// Of the bits of "clocks throttle reasons", those that mean that the GPU would run faster.
constexpr std::pair<unsigned long long, const char*> kReasons[] = {
    {0x04, "power"},              // the software limit of power
    {0x08, "hardware slowdown"},  // heat or power, by the hardware
    {0x20, "heat"},               // software
    {0x40, "heat"},               // hardware
    {0x80, "power brake"},
};

}  // namespace

Result<Nvml> Nvml::Load(const std::string& file) {
  Result<SharedLibrary> library = SharedLibrary::Load(file);
  if (!library.ok()) return Unavailable("no NVML: {}", library.status().message());
  Nvml nvml(*std::move(library));
  if (const Status found = nvml.FindFunctions(); !found.ok())
    return Unavailable("NVML is too old: {}", found.message());
  nvml.FindNewerFunctions();
  if (const NvmlReturn error = nvml.init_(); error != 0)
    return Unavailable("NVML: {}", nvml.error_string_(error));
  nvml.begun_ = true;
  return nvml;
}

Nvml::Nvml(Nvml&& other) noexcept
    : memory(other.memory),
      temperature(other.temperature),
      utilization(other.utilization),
      power_mw(other.power_mw),
      power_limit_mw(other.power_limit_mw),
      clock_mhz(other.clock_mhz),
      most_clock_mhz(other.most_clock_mhz),
      compute_capability(other.compute_capability),
      library_(std::move(other.library_)),
      begun_(std::exchange(other.begun_, false)),
      init_(other.init_),
      shutdown_(other.shutdown_),
      error_string_(other.error_string_),
      driver_version_(other.driver_version_),
      count_(other.count_),
      handle_(other.handle_),
      name_(other.name_),
      throttle_reasons_(other.throttle_reasons_) {}

Nvml::~Nvml() {
  if (begun_) shutdown_();
}

Status Nvml::FindFunctions() {
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlInit_v2", init_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlShutdown", shutdown_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlErrorString", error_string_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlSystemGetDriverVersion", driver_version_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlDeviceGetCount_v2", count_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlDeviceGetHandleByIndex_v2", handle_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlDeviceGetName", name_));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlDeviceGetMemoryInfo", memory));
  STOKER_RETURN_IF_ERROR(library_.Find("nvmlDeviceGetTemperature", temperature));
  return library_.Find("nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons_);
}

// Find leaves null where there is no such function.
void Nvml::FindNewerFunctions() {
  static_cast<void>(library_.Find("nvmlDeviceGetUtilizationRates", utilization));
  static_cast<void>(library_.Find("nvmlDeviceGetPowerUsage", power_mw));
  static_cast<void>(library_.Find("nvmlDeviceGetEnforcedPowerLimit", power_limit_mw));
  static_cast<void>(library_.Find("nvmlDeviceGetClockInfo", clock_mhz));
  static_cast<void>(library_.Find("nvmlDeviceGetMaxClockInfo", most_clock_mhz));
  static_cast<void>(library_.Find("nvmlDeviceGetCudaComputeCapability", compute_capability));
}

std::string Nvml::DriverVersion() const {
  std::array<char, 96> version = {};
  return driver_version_(version.data(), version.size() - 1) == 0 ? version.data() : "";
}

Result<std::vector<NvmlDevice>> Nvml::Devices(std::string& problem) const {
  unsigned count = 0;
  if (const NvmlReturn error = count_(&count); error != 0)
    return Unavailable("NVML: {}", error_string_(error));
  std::vector<NvmlDevice> devices;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    if (const NvmlReturn error = handle_(i, &device); error != 0)
      problem = fmt::format("NVML: GPU {}: {}", i, error_string_(error));
    else
      devices.push_back(device);
  }
  if (devices.empty() && problem.empty()) problem = "NVML: the driver has no GPU";
  return devices;
}

std::string Nvml::NameOf(NvmlDevice device) const {
  std::array<char, 128> name = {};
  return name_(device, name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::vector<std::string> Nvml::SlowedBy(NvmlDevice device) const {
  unsigned long long reasons = 0;
  std::vector<std::string> slowed_by;
  if (throttle_reasons_(device, &reasons) != 0) return slowed_by;
  for (const auto& [bit, reason] : kReasons) {
    const bool known = !slowed_by.empty() && slowed_by.back() == reason;
    if ((reasons & bit) != 0 && !known) slowed_by.emplace_back(reason);
  }
  return slowed_by;
}

}  // namespace stoker
