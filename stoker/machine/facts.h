// What a machine is and what it allows this process: facts that are read, not measured.
//
// Plain values without invariants. read_facts.h fills them from /proc and /sys, gpu.h from NVML;
// warnings.h draws conclusions from them. A fact that could not be read is empty: no member says
// "none" where it means "unknown".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

struct CpuFacts {
  std::string model;            // "AMD EPYC 7B13"; empty if unknown
  int online = 0;               // CPUs of the machine; 0 if unknown
  int sockets = 0;              // 0 if unknown
  int cores = 0;                // physical ones of all sockets; 0 if unknown
  std::vector<int> allowed;     // CPUs in the affinity mask, ascending
  std::optional<double> quota;  // CPUs by the control group: 1.5 is one and a half

  // The governor of frequencies that most of the allowed CPUs have, its driver and its preference.
  std::string governor;    // "powersave"
  std::string driver;      // "intel_pstate"
  std::string preference;  // energy_performance_preference: "balance_power"

  // How often the control group's quota stopped this group, of how many periods.
  std::optional<int64_t> throttled_periods;
  std::optional<int64_t> periods;
  // How often heat slowed cores of the allowed CPUs or their packages down since the machine began.
  std::optional<int64_t> thermal_throttles;
};

struct NumaNode {
  int id = 0;
  int64_t memory_bytes = 0;
  std::vector<int> cpus;
};

struct MemoryFacts {
  std::optional<int64_t> total_bytes;
  std::optional<int64_t> available_bytes;
  std::optional<int64_t> limit_bytes;  // by the control group
  std::optional<int64_t> swap_total_bytes;
  std::optional<int64_t> swap_used_bytes;
  std::string huge_pages;         // transparent ones: "always", "madvise" or "never"
  std::string huge_pages_defrag;  // "always", "defer", "defer+madvise", "madvise" or "never"
  std::vector<NumaNode> nodes;    // ascending
};

struct LimitFacts {
  // Soft and hard limits; a missing one is unlimited if `open_files_known` and so on.
  bool open_files_known = false;
  std::optional<int64_t> open_files;
  std::optional<int64_t> open_files_hard;
  bool locked_memory_known = false;
  std::optional<int64_t> locked_memory_bytes;
  std::optional<int64_t> shared_memory_bytes;  // the size of /dev/shm
  std::optional<int64_t> shared_memory_free_bytes;
  std::string control_groups;  // "v1", "v2", "v1 and v2"; empty if the system has none
};

struct GpuFacts {
  std::string name;
  int64_t memory_bytes = 0;
  int64_t memory_used_bytes = 0;
  std::optional<int> temperature_c;
  std::vector<std::string> slowed_by;  // "heat", "power": why its clocks are lowered now
};

struct Gpus {
  std::vector<GpuFacts> gpus;
  std::string driver;  // "550.54.15"; empty if unknown
  std::string none;    // why there are no facts; empty if there are some
};

struct FileSystemFacts {
  std::string path;     // as it was asked for
  std::string type;     // "ext4", "nfs4", "fuse.sshfs"; empty if unknown
  bool remote = false;  // its files are on another machine
  bool in_memory = false;
  std::optional<int64_t> free_bytes;  // for this user
};

struct MachineFacts {
  std::string host;
  std::string kernel;  // "6.1.0-18-amd64"
  CpuFacts cpu;
  MemoryFacts memory;
  LimitFacts limits;
  Gpus gpu;
  std::vector<FileSystemFacts> file_systems;
};

// The threads that Stoker starts where a recipe sets none: the allowed CPUs, limited by the quota
// (rounded up); at least 1.
int UsableCpus(const CpuFacts& cpu);

// docs/machine.md describes the members. What is unknown is null.
Json ToJson(const MachineFacts& facts);

}  // namespace stoker
