#include "stoker/tools/live/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <iterator>
#include <string>

#include "stoker/base/proc_text.h"
#include "stoker/machine/processes/proc_lines.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// The seconds since 1970 at which the machine started.
std::optional<int64_t> BootTime(const fs::path& root) {
  constexpr std::string_view kKey = "btime ";
  const std::string text = ReadSmallText(root / "proc/stat");
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with(kKey)) return ParseCount(line.substr(kKey.size()));
  }
  return std::nullopt;
}

}  // namespace

ProcessUsage ReadProcessUsage(const fs::path& root) {
  ProcessUsage usage;
  const fs::path self = root / "proc/self";
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string stat_text = ReadSmallText(self / "stat");
  if (const auto stat = ParseStat(stat_text)) {
    usage.cpu_seconds = static_cast<double>(stat->user_ticks + stat->system_ticks) * tick;
    usage.resident_bytes = stat->memory_pages * ::sysconf(_SC_PAGESIZE);
    if (const auto boot = BootTime(root))
      usage.start_seconds = static_cast<double>(*boot) + static_cast<double>(stat->start) * tick;
  }
  const std::string status = ReadSmallText(self / "status"), io = ReadSmallText(self / "io");
  usage.virtual_bytes = MeminfoBytes(status, "VmSize");
  const auto count = [](std::string_view text, std::string_view key) {
    const auto value = ValueOf(text, key);
    return value ? ParseCount(*value) : std::nullopt;
  };
  usage.threads = count(status, "Threads");
  usage.read_bytes = count(io, "read_bytes");
  usage.written_bytes = count(io, "write_bytes");
  std::error_code error;
  const fs::directory_iterator files(self / "fd", error);
  if (!error) usage.open_files = std::distance(begin(files), end(files));
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    usage.most_files = static_cast<int64_t>(limit.rlim_cur);
  return usage;
}

}  // namespace stoker
