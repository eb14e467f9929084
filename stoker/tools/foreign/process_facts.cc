#include "stoker/tools/foreign/process_facts.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

double ShareOf(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

double RateBetween(const std::optional<int64_t>& begin, const std::optional<int64_t>& end,
                   double seconds) {
  if (!begin || !end || *end < *begin || seconds <= 0) return 0;
  return static_cast<double>(*end - *begin) / seconds;
}

std::optional<double> PressureBetween(const std::optional<double>& begin,
                                      const std::optional<double>& end, double seconds) {
  if (!begin || !end) return std::nullopt;
  return ShareOf(*end - *begin, seconds);
}

}  // namespace

Framework FrameworkOf(int64_t pid) {
  const std::string maps = ReadSmallText(fmt::format("/proc/{}/maps", pid));
  const auto has = [&maps](const char* name) { return maps.find(name) != std::string::npos; };
  if (has("libtorch_cpu") || has("libtorch_python")) return Framework::kPyTorch;
  if (has("libtensorflow") || has("_pywrap_tensorflow")) return Framework::kTensorFlow;
  return has("jaxlib") ? Framework::kJax : Framework::kUnknown;
}

HostTimes HostTimesBetween(const HostCounters& begin, const HostCounters& end, double seconds) {
  HostTimes times;
  times.cpu_pressure = PressureBetween(begin.cpu_pressure_s, end.cpu_pressure_s, seconds);
  times.disk_pressure = PressureBetween(begin.disk_pressure_s, end.disk_pressure_s, seconds);
  times.memory_pressure = PressureBetween(begin.memory_pressure_s, end.memory_pressure_s, seconds);
  times.swapped_bytes_per_s = RateBetween(begin.swapped_pages, end.swapped_pages, seconds) *
                              static_cast<double>(::sysconf(_SC_PAGESIZE));
  times.huge_page_bytes_per_s = RateBetween(begin.huge_page_bytes, end.huge_page_bytes, seconds);
  if (begin.periods && end.periods && begin.throttled_periods && end.throttled_periods) {
    times.throttled_share =
        ShareOf(static_cast<double>(*end.throttled_periods - *begin.throttled_periods),
                static_cast<double>(*end.periods - *begin.periods));
  }
  times.received_bytes_per_s = RateBetween(begin.received_bytes, end.received_bytes, seconds);
  times.sent_bytes_per_s = RateBetween(begin.sent_bytes, end.sent_bytes, seconds);
  times.group_memory_share = end.group_memory_share;
  times.shared_memory_share = end.shared_memory_share;
  for (const auto& [disk, busy] : end.disk_busy_ms) {
    const auto before = begin.disk_busy_ms.find(disk);
    if (before == begin.disk_busy_ms.end()) continue;
    const double share = ShareOf(1e-3 * static_cast<double>(busy - before->second), seconds);
    if (share <= times.disk_busy) continue;
    times.disk_busy = share;
    times.busiest_disk = disk;
  }
  return times;
}

double ThreadCpuSeconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace stoker
