// Counters of the whole machine and of this process's control group.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace stoker {

// Since the machine or the group began, so a rate needs two readings. What is not there is empty.
struct HostCounters {
  // Seconds in which some task of the machine waited for it (pressure stall information).
  std::optional<double> cpu_pressure_s, disk_pressure_s, memory_pressure_s;
  std::optional<int64_t> swapped_pages;               // in and out
  std::optional<int64_t> huge_page_bytes;             // given to programs as huge pages
  std::optional<int64_t> periods, throttled_periods;  // of the control group's quota of CPU
  std::map<std::string, int64_t> disk_busy_ms;        // by device: "nvme0n1"
  // Over all networks but the loopback; nothing: none is seen.
  std::optional<int64_t> received_bytes, sent_bytes;
  // At the moment: of its limit, by the control group (base/control_group.h); of /dev/shm.
  std::optional<double> group_memory_share, shared_memory_share;
  double runnable = 0;  // threads of the machine that compute or want to, at the moment
};

//   root  "/"; tests make up others
HostCounters ReadHostCounters(const std::filesystem::path& root = "/");

// Returns `runnable` alone, which is read more often.
double ReadRunnable(const std::filesystem::path& root = "/");

}  // namespace stoker
