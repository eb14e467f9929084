// Rates between two looks of `stoker top`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/tools/top/top_history.h"

namespace stoker {

struct CpuRate {
  int64_t id = 0;
  double busy = 0;    // share of the time
  double stolen = 0;  // by the host of a virtual machine
};

struct DiskRate {
  std::string name;
  double busy = 0;  // share of the time
  double read_bytes_per_s = 0, written_bytes_per_s = 0;
};

struct NetworkRate {
  std::string name;
  double received_bytes_per_s = 0, sent_bytes_per_s = 0;
};

// What is in one look only is left out, and counters that went back count as still.
struct MachineRates {
  std::vector<CpuRate> cpus;
  std::vector<DiskRate> disks;        // the busiest first
  std::vector<NetworkRate> networks;  // that with the most bytes first

  double cpu_busy() const;  // of all CPUs; 0 if none is known
};

// Returns the rates between the last two looks; none after the first.
MachineRates MachineRatesOf(const TopHistory& history);

// A stage's times as seconds a second: 1.8 is 1.8 threads on average.
struct StageRate {
  std::string name;
  StageWork work = StageWork::kArranges;
  double busy = 0, starved = 0, blocked = 0;
  double elements_per_s = 0, bytes_per_s = 0;
};

// What a run did between two of its publications.
struct RunWindow {
  double seconds = 0;  // by the clock on the wall
  PublishedWork work;  // in them
  std::vector<PublishedStage> stages;
  std::vector<StageRate> rates;
};

// Returns the window of about ten seconds (kWindowSeconds) that ends with the last publication;
// since the process began with the run where that is less or nothing older has been seen. Nothing
// if there is no publication, or no time passed.
inline constexpr double kWindowSeconds = 10;
std::optional<RunWindow> RunWindowOf(const TopHistory& history);

// Shares of a window's time: the parts of steps, and what is beside them.
struct TimeShares {
  double compute = 0, wait = 0, evaluation = 0, checkpoint = 0, logging = 0, other = 0;
};
TimeShares TimeSharesOf(const RunWindow& window);

// Samples a second of each of the last `most` looks, the oldest first. Looks at a run that had
// published nothing yet are left out.
std::vector<double> ThroughputOf(const TopHistory& history, size_t most);

// By how much the clock of a GPU is below the highest that it can have: -0.25 is a quarter; nothing
// if it does not say.
std::optional<double> ClockDrift(const GpuSample& gpu);

}  // namespace stoker
