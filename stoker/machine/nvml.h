// NVIDIA's management library (NVML), with declarations of our own: what is used of its C
// interface, which keeps its types from release to release.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/machine/library.h"

namespace stoker {

using NvmlReturn = int;  // 0: success
using NvmlDevice = struct NvmlDeviceOpaque*;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;  // percent of the time since the driver's last look
};
inline constexpr int kNvmlGpuSensor = 0;
inline constexpr int kNvmlSmClock = 1;

// The library, loaded and initialised while this lives. One thread at a time.
class Nvml {
 public:
  // Loads the library `file` (dlopen(3)). Needs no CUDA. Takes some 50 ms where there are GPUs.
  // Errors: kUnavailable, saying in one line what is missing: the library, a function of it, or its
  // driver.
  static Result<Nvml> Load(const std::string& file = "libnvidia-ml.so.1");
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&&) = delete;
  ~Nvml();

  // Returns the driver's version; empty if it does not say.
  std::string DriverVersion() const;

  // Returns the handle of each GPU. Errors: kUnavailable. One GPU that cannot be used is left out,
  // and `problem` says why.
  Result<std::vector<NvmlDevice>> Devices(std::string& problem) const;

  std::string NameOf(NvmlDevice device) const;

  // Returns why its clocks are lowered now: "heat", "power", "hardware slowdown", "power brake".
  std::vector<std::string> SlowedBy(NvmlDevice device) const;

  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  NvmlReturn (*temperature)(NvmlDevice, int, unsigned*) = nullptr;

  // Null where the library is too old for them.
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlReturn (*power_mw)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*power_limit_mw)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*clock_mhz)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*most_clock_mhz)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*compute_capability)(NvmlDevice, int* major, int* minor) = nullptr;

 private:
  explicit Nvml(SharedLibrary library) : library_(std::move(library)) {}
  Status FindFunctions();
  void FindNewerFunctions();

  SharedLibrary library_;
  bool begun_ = false;  // init succeeded, so that shutdown is due
  NvmlReturn (*init_)() = nullptr;
  NvmlReturn (*shutdown_)() = nullptr;
  const char* (*error_string_)(NvmlReturn) = nullptr;
  NvmlReturn (*driver_version_)(char*, unsigned) = nullptr;
  NvmlReturn (*count_)(unsigned*) = nullptr;
  NvmlReturn (*handle_)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*name_)(NvmlDevice, char*, unsigned) = nullptr;
  NvmlReturn (*throttle_reasons_)(NvmlDevice, unsigned long long*) = nullptr;
};

}  // namespace stoker
