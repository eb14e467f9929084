// What the GPUs do while a program that is not ours is watched: NVML from outside, and, in a
// program that the doctor started, a library that counts kernels and copies
// (machine/activity/cuda_activity.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/doctor/process_profile.h"
#include "stoker/machine/activity/cuda_counters.h"
#include "stoker/machine/live/gpu_meter.h"
#include "stoker/tools/program/temporary_directory.h"

namespace stoker {

// Returns what a process did between two readings of its counters, of the time that was counted.
CudaTimes CudaTimesBetween(const CudaCounters& begin, const CudaCounters& end);

// Used by one thread. The destructor removes the files of the counters, so end the program first.
class AcceleratorWatch {
 public:
  // Loads NVML, which takes some 50 ms where there are GPUs.
  AcceleratorWatch() = default;

  // Returns the variables of the environment with which a program to be started is counted; none if
  // this machine shows no GPU, or if the user's environment has such a library already.
  std::vector<std::pair<std::string, std::string>> PrepareCounting();

  // Counts nothing inside the program, because its user does not want that.
  void LeaveUncounted();

  // Reads what there is, unless it was just read; more rarely where that takes long. `late`: from
  // now on it counts.
  void Look(double now, bool late);

  // Of the moments that count; of all, if those are few.
  std::optional<GpuTimes> Gpu() const;
  // Of the process `main`; of the one that computes most where that one uses no GPU.
  std::optional<CudaTimes> CudaOf(int64_t main) const;

  // Why something was not measured, a line each; none where the machine has no GPU.
  std::vector<std::string> Notes(int64_t main) const;

 private:
  struct Counted {
    CudaCounters last;
    std::optional<CudaCounters> first_late;
  };
  // Sums over readings, of one GPU.
  struct GpuSums {
    std::string name;
    int compute_major = 0, compute_minor = 0;
    double used = 0, power_share = 0, memory_share = 0;
    int64_t readings = 0, with_use = 0, with_power = 0;
    std::map<std::string, int64_t> slowed_by;
  };
  void AddGpus();
  void ReadCounters(double now, bool late);
  const Counted* CountedOf(int64_t main) const;  // null: nothing was counted

  GpuMeter meter_;
  std::vector<GpuSums> gpus_;
  std::optional<TemporaryDirectory> folder_;
  std::map<int64_t, Counted> counted_;  // by pid
  std::string no_counting_;             // why; empty: nothing is in the way
  std::optional<double> lost_;          // when somebody was seen to have removed the counters
  bool late_ = false;
  double due_ = 0, gpus_due_ = 0;
};

}  // namespace stoker
