// The machine and this process, as pages and metrics show them. Counters grow, so a rate needs two
// readings.
#pragma once

#include <vector>

#include "stoker/machine/live/gpu_meter.h"
#include "stoker/machine/live/machine_counters.h"
#include "stoker/tools/live/process_usage.h"

namespace stoker {

struct MachineUsage {
  MachineCounters counters;
  std::vector<GpuSample> gpus;
  ProcessUsage process;
};

// Takes a millisecond, and as much for each GPU.
inline MachineUsage ReadMachineUsage(const GpuMeter& gpus) {
  return {.counters = ReadMachineCounters(), .gpus = gpus.Read(), .process = ReadProcessUsage()};
}

}  // namespace stoker
