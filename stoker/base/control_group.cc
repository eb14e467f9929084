#include "stoker/base/control_group.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The leading number of `text`; none for "max" and the like.
std::optional<int64_t> LeadingNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

template <typename T>
void LowerTo(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

void AddMemory(std::string_view text, ControlGroupLimits& limits) {
  const std::optional<int64_t> bytes = LeadingNumber(text);
  if (bytes && *bytes > 0) LowerTo(limits.memory_bytes, *bytes);
}

void AddCpus(std::optional<int64_t> quota, std::optional<int64_t> period,
             ControlGroupLimits& limits) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  LowerTo(limits.cpus, static_cast<double>(*quota) / static_cast<double>(*period));
}

void AddVersion2(const fs::path& folder, ControlGroupLimits& limits) {
  AddMemory(ReadSmallText(folder / "memory.max"), limits);
  const std::string cpu = ReadSmallText(folder / "cpu.max");  // "max 100000" or "150000 100000"
  const auto parts = SplitAt(cpu, ' ');
  if (parts.size() == 2) AddCpus(LeadingNumber(parts[0]), LeadingNumber(parts[1]), limits);
}

void AddVersion1Memory(const fs::path& folder, ControlGroupLimits& limits) {
  AddMemory(ReadSmallText(folder / "memory.limit_in_bytes"), limits);
}

void AddVersion1Cpus(const fs::path& folder, ControlGroupLimits& limits) {
  AddCpus(LeadingNumber(ReadSmallText(folder / "cpu.cfs_quota_us")),
          LeadingNumber(ReadSmallText(folder / "cpu.cfs_period_us")), limits);
}

// Calls `see` for the group's folder and for each one above it, up to the hierarchy's root.
template <typename See>
void WalkUp(const fs::path& root, std::string_view group, See see) {
  fs::path relative = fs::path(group).relative_path();
  while (!relative.empty()) {
    see(root / relative);
    relative = relative.parent_path();
  }
  see(root);
}

// Calls `see` with a controller and a folder, for all folders of the groups in the text of
// /proc/self/cgroup. The controller is "" in version 2, else "memory" or "cpu".
template <typename See>
void ForEachFolder(std::string_view groups, const fs::path& mount, See see) {
  for (const std::string_view line : SplitLines(groups)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    for (const std::string_view controller : SplitAt(controllers, ',')) {
      if (controller != "" && controller != "memory" && controller != "cpu") continue;
      WalkUp(mount / controller, group,
             [&see, controller](const fs::path& folder) { see(controller, folder); });
    }
  }
}

}  // namespace

ControlGroupLimits ReadControlGroupLimits(std::string_view groups, const fs::path& mount) {
  ControlGroupLimits limits;
  ForEachFolder(groups, mount, [&limits](std::string_view controller, const fs::path& folder) {
    if (controller.empty()) AddVersion2(folder, limits);
    if (controller == "memory") AddVersion1Memory(folder, limits);
    if (controller == "cpu") AddVersion1Cpus(folder, limits);
  });
  return limits;
}

std::optional<double> ControlGroupMemoryShare(std::string_view groups, const fs::path& mount) {
  std::optional<double> most;
  ForEachFolder(groups, mount, [&most](std::string_view controller, const fs::path& folder) {
    if (controller == "cpu") return;
    const bool version1 = controller == "memory";
    const auto read = [&](const char* name) { return ReadSmallText(folder / name); };
    const auto used = LeadingNumber(read(version1 ? "memory.usage_in_bytes" : "memory.current"));
    const auto limit = LeadingNumber(read(version1 ? "memory.limit_in_bytes" : "memory.max"));
    // Without a limit version 1 has the greatest number of pages here.
    constexpr int64_t kNoLimit = int64_t{1} << 60;
    if (!used || !limit || *limit <= 0 || *limit >= kNoLimit) return;
    const int64_t droppable =
        CountOf(read("memory.stat"), version1 ? "total_inactive_file" : "inactive_file")
            .value_or(0);
    const double share =
        static_cast<double>(std::max<int64_t>(0, *used - droppable)) / static_cast<double>(*limit);
    most = std::max(most.value_or(0), share);
  });
  return most;
}

ControlGroupLimits ReadControlGroupLimits() {
  return ReadControlGroupLimits(ReadSmallText("/proc/self/cgroup"), "/sys/fs/cgroup");
}

int CpusUnder(int allowed, std::optional<double> quota) {
  const double most = allowed;
  return static_cast<int>(std::max(1.0, std::min(most, std::ceil(quota.value_or(most)))));
}

int64_t MachineMemoryBytes() {
  const std::optional<int64_t> total = MeminfoBytes(ReadSmallText("/proc/meminfo"), "MemTotal");
  return total ? *total : static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace stoker
