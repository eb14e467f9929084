#include "stoker/machine/processes/host_counters.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "stoker/base/control_group.h"
#include "stoker/base/proc_text.h"
#include "stoker/machine/live/machine_counters.h"
#include "stoker/machine/read_facts.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234": microseconds.
std::optional<double> Pressure(const fs::path& root, const char* name) {
  const std::string text = ReadSmallText(root / "proc/pressure" / name);
  for (const std::string_view line : SplitLines(text)) {
    const size_t total = line.find("total=");
    if (!line.starts_with("some") || total == line.npos) continue;
    if (const auto us = ParseCount(line.substr(total + 6))) return static_cast<double>(*us) * 1e-6;
  }
  return std::nullopt;
}

// Huge pages are counted as pages; their size is that of the processor.
std::optional<int64_t> HugePageBytes(const fs::path& root, std::string_view vmstat) {
  const auto pages = CountOf(vmstat, "thp_fault_alloc");
  const auto size = ParseCount(
      Trimmed(ReadSmallText(root / "sys/kernel/mm/transparent_hugepage/hpage_pmd_size")));
  constexpr int64_t kMostBytes = int64_t{1} << 40;  // of a page; keeps the product in range
  if (!pages || !size || *size > kMostBytes || *pages > INT64_MAX / std::max<int64_t>(*size, 1)) {
    return std::nullopt;
  }
  return *pages * *size;
}

void AddNetworks(const fs::path& root, HostCounters& counters) {
  for (const NetworkCounters& each : ParseNetworkCounters(ReadSmallText(root / "proc/net/dev"))) {
    counters.received_bytes = counters.received_bytes.value_or(0) + each.received_bytes;
    counters.sent_bytes = counters.sent_bytes.value_or(0) + each.sent_bytes;
  }
}

std::optional<double> SharedMemoryShare(const LimitFacts& limits) {
  const auto all = limits.shared_memory_bytes, free = limits.shared_memory_free_bytes;
  if (!all || !free || *all <= 0) return std::nullopt;
  return 1 - static_cast<double>(*free) / static_cast<double>(*all);
}

void AddDisks(const fs::path& root, HostCounters& counters) {
  for (const DiskCounters& disk : ReadDisks(root)) counters.disk_busy_ms[disk.name] = disk.busy_ms;
}

}  // namespace

double ReadRunnable(const fs::path& root) {
  const std::string line = ReadSmallText(root / "proc/loadavg");  // "0.1 0.2 0.3 3/120 99"
  const size_t slash = line.find('/');
  const size_t begin = line.rfind(' ', slash);
  if (slash == std::string::npos || begin == std::string::npos) return 0;
  return std::strtod(line.c_str() + begin, nullptr);
}

HostCounters ReadHostCounters(const fs::path& root) {
  HostCounters counters;
  counters.cpu_pressure_s = Pressure(root, "cpu");
  counters.disk_pressure_s = Pressure(root, "io");
  counters.memory_pressure_s = Pressure(root, "memory");
  const std::string vmstat = ReadSmallText(root / "proc/vmstat");
  const auto in = CountOf(vmstat, "pswpin"), out = CountOf(vmstat, "pswpout");
  if (in && out) counters.swapped_pages = *in + *out;
  counters.huge_page_bytes = HugePageBytes(root, vmstat);
  const MachineFacts facts = ReadMachineFacts(root);
  counters.periods = facts.cpu.periods;
  counters.throttled_periods = facts.cpu.throttled_periods;
  counters.group_memory_share =
      ControlGroupMemoryShare(ReadSmallText(root / "proc/self/cgroup"), root / "sys/fs/cgroup");
  counters.shared_memory_share = SharedMemoryShare(facts.limits);
  AddDisks(root, counters);
  AddNetworks(root, counters);
  counters.runnable = ReadRunnable(root);
  return counters;
}

}  // namespace stoker
