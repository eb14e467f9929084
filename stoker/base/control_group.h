// The CPUs and memory that the process's Linux control groups and its machine allow it to use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace stoker {

struct ControlGroupLimits {
  std::optional<int64_t> memory_bytes;
  std::optional<double> cpus;  // quota over period: 1.5 is one and a half CPUs
};

// Returns the smallest limits among the process's groups and all groups above them, versions 1 and
// 2.
//   groups  the text of /proc/self/cgroup: lines "hierarchy:controllers:path", "0::path" for
//           version 2
//   mount   where the hierarchies are mounted: version 2 at `mount` itself, version 1 in a folder
//           for each controller
// A group that is not visible under `mount` (a container without its own namespace) is skipped; its
// parents are read.
ControlGroupLimits ReadControlGroupLimits(std::string_view groups,
                                          const std::filesystem::path& mount);

// Returns the same for this process; no limits if the system has no control groups.
ControlGroupLimits ReadControlGroupLimits();

// Returns how much of its limit of memory that group uses, among the process's and all above them,
// which is closest to it: 0.9 is nine tenths. What the kernel would drop first, the inactive part
// of its cache of files, is not counted. Nothing: no group has a limit.
std::optional<double> ControlGroupMemoryShare(std::string_view groups,
                                              const std::filesystem::path& mount);

// Returns how many CPUs a process has that is allowed so many, under a quota: at least 1.
int CpusUnder(int allowed, std::optional<double> quota);

// Returns the machine's memory in bytes.
int64_t MachineMemoryBytes();

}  // namespace stoker
