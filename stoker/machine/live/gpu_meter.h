// What the GPUs of this machine do at the moment, by NVML.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/machine/nvml.h"

namespace stoker {

// A figure that a GPU does not have is empty.
struct GpuSample {
  std::string name;
  int compute_major = 0,
      compute_minor = 0;                // CUDA's compute capability: 9.0 of an H100; 0.0: unknown
  std::optional<double> used;           // share of the last moments in which a kernel ran
  std::optional<double> power_w;        // drawn
  std::optional<double> power_limit_w;  // that the driver enforces
  std::optional<int64_t> memory_bytes, memory_used_bytes;
  std::optional<int64_t> temperature_c;
  std::optional<int64_t> clock_mhz;       // of its multiprocessors, now
  std::optional<int64_t> most_clock_mhz;  // that they can have
  std::vector<std::string> slowed_by;     // why its clocks are lowered now: "heat", "power"
};

// Keeps the library loaded, because loading takes far longer than asking. One thread at a time.
class GpuMeter {
 public:
  explicit GpuMeter(const std::string& file = "libnvidia-ml.so.1");

  // Returns the GPUs in the order of NVML. Takes about a millisecond for each.
  std::vector<GpuSample> Read() const;

  // Why there are none, or fewer than the machine has; empty: all are read.
  const std::string& problem() const { return problem_; }

 private:
  std::optional<Nvml> nvml_;
  std::vector<NvmlDevice> devices_;
  std::string problem_;
};

}  // namespace stoker
