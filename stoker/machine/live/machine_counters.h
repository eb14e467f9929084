// Counters of the whole machine: what its CPUs, memory, disks and networks have done so far.
//
// Plain values. Counters begin with the machine, so a rate needs two readings. Parsing never fails:
// a line that is not as the kernel writes it is left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

struct CpuCounters {
  int64_t id = 0;      // "cpu3" has 3
  int64_t busy = 0;    // ticks in which it computed, for any program
  int64_t idle = 0;    // ticks in which it had nothing to do, waits for disks included
  int64_t stolen = 0;  // ticks that the host of a virtual machine gave to others
};

struct MemoryUse {
  std::optional<int64_t> total_bytes;
  std::optional<int64_t> available_bytes;  // without swapping
  std::optional<int64_t> swap_total_bytes, swap_free_bytes;
};

struct DiskCounters {
  std::string name;  // "nvme0n1"
  int64_t read_bytes = 0, written_bytes = 0;
  int64_t busy_ms = 0;  // in which requests were under way
};

struct NetworkCounters {
  std::string name;  // "eth0"
  int64_t received_bytes = 0, sent_bytes = 0;
};

struct MachineCounters {
  std::vector<CpuCounters> cpus;  // ascending
  MemoryUse memory;
  std::vector<DiskCounters> disks;        // whole ones, no partitions
  std::vector<NetworkCounters> networks;  // without the loopback
};

// The texts of /proc/stat, /proc/meminfo, /proc/diskstats and /proc/net/dev.
std::vector<CpuCounters> ParseCpuCounters(std::string_view stat);
MemoryUse ParseMemoryUse(std::string_view meminfo);
std::vector<DiskCounters> ParseDiskCounters(std::string_view diskstats);
std::vector<NetworkCounters> ParseNetworkCounters(std::string_view dev);

// Reads the disks alone: those in /sys/block, since a partition counts what its disk counts too.
//   root  "/"; tests make up others
std::vector<DiskCounters> ReadDisks(const std::filesystem::path& root = "/");

MachineCounters ReadMachineCounters(const std::filesystem::path& root = "/");

}  // namespace stoker
