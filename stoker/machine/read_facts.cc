#include "stoker/machine/read_facts.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "stoker/base/control_group.h"
#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

fs::path CpuFolder(const fs::path& root, int cpu) {
  return root / "sys/devices/system/cpu" / fmt::format("cpu{}", cpu);
}

// The machine's CPUs, as /proc/cpuinfo lists them: a paragraph for each.
void AddCpuinfo(const fs::path& root, CpuFacts& cpu) {
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::string socket;
  const std::string text = ReadSmallText(root / "proc/cpuinfo");
  for (const std::string_view line : SplitLines(text)) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key = Trimmed(line.substr(0, colon));
    const std::string value(Trimmed(line.substr(colon + 1)));
    if (key == "processor") ++cpu.online;
    if (key == "model name" && cpu.model.empty()) cpu.model = value;
    if (key == "physical id") {
      socket = value;
      sockets.insert(value);
    }
    if (key == "core id") cores.emplace(socket, value);
  }
  cpu.sockets = static_cast<int>(sockets.size());
  cpu.cores = static_cast<int>(cores.size());
}

// What most of the allowed CPUs have in their file of this name; empty if none has one.
std::string MostFrequent(const fs::path& root, const CpuFacts& cpu, const char* file) {
  std::map<std::string, int> counts;
  for (const int each : cpu.allowed) {
    std::string text = ReadSmallText(CpuFolder(root, each) / "cpufreq" / file);
    if (!text.empty()) ++counts[std::move(text)];
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return most == counts.end() ? std::string() : most->first;
}

// A package's counter is the same for all of its CPUs: it counts once.
std::optional<int64_t> ThermalThrottles(const fs::path& root, const CpuFacts& cpu) {
  std::optional<int64_t> sum;
  std::map<std::string, int64_t> packages;
  for (const int each : cpu.allowed) {
    const fs::path folder = CpuFolder(root, each);
    const auto core = ParseCount(ReadSmallText(folder / "thermal_throttle/core_throttle_count"));
    const auto package =
        ParseCount(ReadSmallText(folder / "thermal_throttle/package_throttle_count"));
    if (core) sum = sum.value_or(0) + *core;
    if (package) packages[ReadSmallText(folder / "topology/physical_package_id")] = *package;
  }
  for (const auto& [id, count] : packages) sum = sum.value_or(0) + count;
  return sum;
}

// The group's own counters, of version 2 or 1; those of the groups above it are not this process's.
void AddThrottling(const fs::path& root, std::string_view groups, CpuFacts& cpu) {
  for (const std::string_view line : SplitLines(groups)) {
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = fs::path(line.substr(second + 1)).relative_path();
    const bool version1 = (fmt::format(",{},", controllers)).find(",cpu,") != std::string::npos;
    if (!version1 && !controllers.empty()) continue;
    const fs::path mount = root / "sys/fs/cgroup" / (version1 ? "cpu" : "");
    std::string stat = ReadSmallText(mount / group / "cpu.stat");
    // A container sees its own group as the root.
    if (stat.empty()) stat = ReadSmallText(mount / "cpu.stat");
    if (const auto count = CountOf(stat, "nr_periods")) cpu.periods = count;
    if (const auto count = CountOf(stat, "nr_throttled")) cpu.throttled_periods = count;
  }
}

std::string ControlGroupVersions(std::string_view groups) {
  bool version1 = false, version2 = false;
  for (const std::string_view line : SplitLines(groups)) {
    const size_t first = line.find(':');
    if (first == line.npos) continue;
    // Version 2 has no controllers in its line; of version 1 a line with only a name has none.
    const std::string_view rest = line.substr(first + 1);
    if (rest.starts_with(':')) version2 = true;
    if (!rest.starts_with(':') && !rest.starts_with("name=")) version1 = true;
  }
  if (version1 && version2) return "v1 and v2";
  return version1 ? "v1" : version2 ? "v2" : "";
}

std::vector<NumaNode> ReadNodes(const fs::path& root) {
  std::vector<NumaNode> nodes;
  const fs::path folder = root / "sys/devices/system/node";
  for (const int id : ParseCpuList(ReadSmallText(folder / "online"))) {
    const fs::path node = folder / fmt::format("node{}", id);
    NumaNode found{.id = id, .cpus = ParseCpuList(ReadSmallText(node / "cpulist"))};
    // Its lines begin with "Node 0 ".
    const std::string meminfo = ReadSmallText(node / "meminfo");
    found.memory_bytes = MeminfoBytes(meminfo, fmt::format("Node {} MemTotal", id)).value_or(0);
    nodes.push_back(std::move(found));
  }
  return nodes;
}

// Beside what ReadMachineBasics reads.
void AddMemory(const fs::path& root, MemoryFacts& memory) {
  const std::string meminfo = ReadSmallText(root / "proc/meminfo");
  memory.available_bytes = MeminfoBytes(meminfo, "MemAvailable");
  memory.swap_total_bytes = MeminfoBytes(meminfo, "SwapTotal");
  const auto swap_free = MeminfoBytes(meminfo, "SwapFree");
  if (memory.swap_total_bytes && swap_free)
    memory.swap_used_bytes = std::max<int64_t>(0, *memory.swap_total_bytes - *swap_free);
  const fs::path huge = root / "sys/kernel/mm/transparent_hugepage";
  memory.huge_pages = ChosenWord(ReadSmallText(huge / "enabled"));
  memory.huge_pages_defrag = ChosenWord(ReadSmallText(huge / "defrag"));
  memory.nodes = ReadNodes(root);
}

// A line of /proc/self/limits: "Max open files            1024                 524288  files". The
// name ends where two spaces follow.
std::vector<std::string> LimitColumns(std::string_view limits, std::string_view name) {
  for (const std::string_view line : SplitLines(limits)) {
    if (!line.starts_with(name)) continue;
    const std::vector<std::string_view> words = SplitWords(line.substr(name.size()));
    return {words.begin(), words.end()};
  }
  return {};
}

// False if the column is neither a number nor "unlimited".
bool ParseLimit(const std::vector<std::string>& columns, size_t index,
                std::optional<int64_t>& limit) {
  if (index >= columns.size()) return false;
  limit = ParseCount(columns[index]);
  return limit || columns[index] == "unlimited";
}

void AddLimits(const fs::path& root, LimitFacts& limits) {
  const std::string text = ReadSmallText(root / "proc/self/limits");
  const auto files = LimitColumns(text, "Max open files");
  limits.open_files_known =
      ParseLimit(files, 0, limits.open_files) && ParseLimit(files, 1, limits.open_files_hard);
  limits.locked_memory_known =
      ParseLimit(LimitColumns(text, "Max locked memory"), 0, limits.locked_memory_bytes);
  struct statvfs shared = {};
  if (::statvfs((root / "dev/shm").c_str(), &shared) != 0) return;
  limits.shared_memory_bytes = static_cast<int64_t>(shared.f_blocks * shared.f_frsize);
  limits.shared_memory_free_bytes = static_cast<int64_t>(shared.f_bavail * shared.f_frsize);
}

}  // namespace

MachineFacts ReadMachineBasics(const fs::path& root) {
  MachineFacts facts;
  facts.host = ReadSmallText(root / "proc/sys/kernel/hostname");
  facts.kernel = ReadSmallText(root / "proc/sys/kernel/osrelease");
  AddCpuinfo(root, facts.cpu);
  const std::string status = ReadSmallText(root / "proc/self/status");
  facts.cpu.allowed = ParseCpuList(ValueOf(status, "Cpus_allowed_list").value_or(""));
  const ControlGroupLimits limits =
      ReadControlGroupLimits(ReadSmallText(root / "proc/self/cgroup"), root / "sys/fs/cgroup");
  facts.cpu.quota = limits.cpus;
  facts.memory.total_bytes = MeminfoBytes(ReadSmallText(root / "proc/meminfo"), "MemTotal");
  // Version 1 writes a number beyond all memory for "no limit".
  if (limits.memory_bytes &&
      (!facts.memory.total_bytes || *limits.memory_bytes < *facts.memory.total_bytes)) {
    facts.memory.limit_bytes = limits.memory_bytes;
  }
  return facts;
}

MachineFacts ReadMachineFacts(const fs::path& root) {
  MachineFacts facts = ReadMachineBasics(root);
  CpuFacts& cpu = facts.cpu;
  cpu.governor = MostFrequent(root, cpu, "scaling_governor");
  cpu.driver = MostFrequent(root, cpu, "scaling_driver");
  cpu.preference = MostFrequent(root, cpu, "energy_performance_preference");
  cpu.thermal_throttles = ThermalThrottles(root, cpu);
  const std::string groups = ReadSmallText(root / "proc/self/cgroup");
  AddThrottling(root, groups, cpu);
  AddMemory(root, facts.memory);
  AddLimits(root, facts.limits);
  facts.limits.control_groups = ControlGroupVersions(groups);
  return facts;
}

}  // namespace stoker
