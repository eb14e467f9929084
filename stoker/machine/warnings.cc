#include "stoker/machine/warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace stoker {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
// The limit that most systems begin with is 1024: a thousand open shards are beyond it.
constexpr int64_t kFewOpenFiles = 4096;
// Containers get 64 MB by default.
constexpr int64_t kLittleSharedMemory = 256 * kMebibyte;
constexpr int64_t kSwapInUse = 64 * kMebibyte;
// Of the periods in which the group ran; a single late one costs nothing.
constexpr double kOftenThrottled = 0.01;

using Warning = std::optional<MachineWarning>;

std::string Megabytes(int64_t bytes) {
  return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
}

// Programs that know only the affinity start too many threads; Stoker's threads fit, but a quota
// that is no whole number is still exceeded by the last of them.
Warning Quota(const MachineFacts& facts) {
  const CpuFacts& cpu = facts.cpu;
  if (!cpu.quota || *cpu.quota >= static_cast<double>(cpu.allowed.size())) return {};
  std::string throttled;
  if (cpu.periods && cpu.throttled_periods && *cpu.periods > 0) {
    throttled = fmt::format("; so far it was stopped in {} of {} periods", *cpu.throttled_periods,
                            *cpu.periods);
  }
  return MachineWarning{
      "quota",
      fmt::format("the control group gives {:g} CPUs, and {} are in the affinity mask{}",
                  *cpu.quota, cpu.allowed.size(), throttled),
      "cpu.max or cpu.cfs_quota_us below /sys/fs/cgroup",
      fmt::format(
          "Stoker starts {} threads; other programs start one for each CPU that they see and are "
          "then stopped many times a second: raise the quota (docker --cpus, Kubernetes' limit of "
          "cpu), or set OMP_NUM_THREADS={}",
          UsableCpus(cpu), UsableCpus(cpu))};
}

// The quota is that of one CPU group; a group above may stop it as well.
Warning Throttled(const MachineFacts& facts) {
  const CpuFacts& cpu = facts.cpu;
  const bool below_quota = cpu.quota && *cpu.quota < static_cast<double>(cpu.allowed.size());
  if (below_quota || !cpu.periods || !cpu.throttled_periods || *cpu.periods <= 0) return {};
  const double share =
      static_cast<double>(*cpu.throttled_periods) / static_cast<double>(*cpu.periods);
  if (share < kOftenThrottled) return {};
  return MachineWarning{
      "throttled",
      fmt::format("the control group was stopped in {} of {} periods because its quota was used up",
                  *cpu.throttled_periods, *cpu.periods),
      "cpu.stat below /sys/fs/cgroup",
      "raise the quota of CPUs, or start fewer threads and processes in this group"};
}

// With the drivers intel_pstate and amd-pstate-epp "powersave" is the usual governor, which does
// raise the frequency: there the preference decides.
Warning Governor(const MachineFacts& facts) {
  const CpuFacts& cpu = facts.cpu;
  if (cpu.governor != "powersave") return {};
  const bool by_preference = !cpu.preference.empty();
  const bool saves = cpu.preference == "power" || cpu.preference == "balance_power";
  if (by_preference && !saves) return {};
  return MachineWarning{
      "governor",
      by_preference
          ? fmt::format("CPUs save power: the governor is powersave and prefers {}", cpu.preference)
          : "CPUs stay at their lowest frequency: the governor is powersave",
      "/sys/devices/system/cpu/cpu*/cpufreq",
      "as root: cpupower frequency-set --governor performance"};
}

Warning ThermalThrottling(const MachineFacts& facts) {
  if (facts.cpu.thermal_throttles.value_or(0) == 0) return {};
  return MachineWarning{
      "heat",
      fmt::format("heat has slowed CPUs down {} times since the machine began",
                  *facts.cpu.thermal_throttles),
      "/sys/devices/system/cpu/cpu*/thermal_throttle",
      "look whether the figure grows while you train; if so, clean or add cooling, or train on "
      "fewer threads"};
}

Warning SlowedGpu(const MachineFacts& facts) {
  for (const GpuFacts& gpu : facts.gpu.gpus) {
    if (gpu.slowed_by.empty()) continue;
    return MachineWarning{
        "gpu_slowed",
        fmt::format("the clocks of {} are lowered now: {}", gpu.name,
                    fmt::join(gpu.slowed_by, ", ")),
        "NVML, reasons of throttling",
        "look at its cooling and its limit of power (nvidia-smi -q -d TEMPERATURE,POWER)"};
  }
  return {};
}

Warning SharedMemory(const MachineFacts& facts) {
  const auto& bytes = facts.limits.shared_memory_bytes;
  if (!bytes || *bytes >= kLittleSharedMemory) return {};
  return MachineWarning{"shared_memory", fmt::format("/dev/shm has only {}", Megabytes(*bytes)),
                        "/dev/shm",
                        "Stoker does not need it, but the workers of PyTorch's DataLoader hand "
                        "batches over there and die when it "
                        "is full: docker run --shm-size=8g, or --ipc=host"};
}

Warning OpenFiles(const MachineFacts& facts) {
  const LimitFacts& limits = facts.limits;
  if (!limits.open_files_known || !limits.open_files || *limits.open_files >= kFewOpenFiles)
    return {};
  const std::string hard =
      limits.open_files_hard ? std::to_string(*limits.open_files_hard) : "unlimited";
  return MachineWarning{
      "open_files",
      fmt::format("a process may open only {} files (at most {})", *limits.open_files, hard),
      "/proc/self/limits",
      fmt::format(
          "ulimit -n {} before training on many shards",
          limits.open_files_hard ? std::min<int64_t>(*limits.open_files_hard, 65536) : 65536)};
}

Warning Swap(const MachineFacts& facts) {
  const MemoryFacts& memory = facts.memory;
  if (memory.swap_used_bytes.value_or(0) < kSwapInUse) return {};
  return MachineWarning{
      "swap", fmt::format("{} of swap are in use", Megabytes(*memory.swap_used_bytes)),
      "/proc/meminfo",
      "memory that is swapped out is a thousand times as slow: end what takes the memory, or lower "
      "--memory"};
}

// All allowed CPUs on one node of several that have memory.
Warning Numa(const MachineFacts& facts) {
  const auto has_memory = [](const NumaNode& node) { return node.memory_bytes > 0; };
  const std::vector<NumaNode>& nodes = facts.memory.nodes;
  if (std::ranges::count_if(nodes, has_memory) < 2 || facts.cpu.allowed.empty()) return {};
  for (const NumaNode& node : nodes) {
    const bool all_here = std::ranges::all_of(
        facts.cpu.allowed, [&](int cpu) { return std::ranges::binary_search(node.cpus, cpu); });
    if (!all_here) continue;
    return MachineWarning{
        "numa",
        fmt::format("all {} CPUs of the affinity mask are on node {} of {} that have memory",
                    facts.cpu.allowed.size(), node.id, std::ranges::count_if(nodes, has_memory)),
        "/sys/devices/system/node",
        fmt::format("memory beyond the {} of this node is slower to reach: keep below it, or allow "
                    "CPUs of all nodes (taskset, numactl)",
                    Megabytes(node.memory_bytes))};
  }
  return {};
}

Warning HugePages(const MachineFacts& facts) {
  const MemoryFacts& memory = facts.memory;
  const std::string folder = "/sys/kernel/mm/transparent_hugepage";
  if (memory.huge_pages == "never") {
    return MachineWarning{
        "huge_pages",
        "transparent huge pages are off, which makes large batches and shuffles slower",
        folder + "/enabled", "as root: echo madvise > " + folder + "/enabled"};
  }
  if (memory.huge_pages == "always" && memory.huge_pages_defrag == "always") {
    return MachineWarning{"huge_pages",
                          "transparent huge pages are made at once for all memory, and a thread "
                          "stops while the kernel makes room",
                          folder + "/defrag", "as root: echo madvise > " + folder + "/defrag"};
  }
  return {};
}

std::vector<MachineWarning> RemoteFileSystems(const MachineFacts& facts) {
  std::vector<MachineWarning> warnings;
  for (const FileSystemFacts& system : facts.file_systems) {
    if (!system.remote) continue;
    warnings.push_back({"network_file_system",
                        fmt::format("{} is on another machine ({})", system.path,
                                    system.type.empty() ? "a network file system" : system.type),
                        "statfs(2) and /proc/self/mountinfo",
                        "small files and random reads wait for the network: pack them into shards "
                        "(stoker pack), copy them to a "
                        "local disk, or read further ahead"});
  }
  return warnings;
}

}  // namespace

std::vector<MachineWarning> FindTraps(const MachineFacts& facts) {
  std::vector<MachineWarning> found;
  const auto add = [&](const Warning& warning) {
    if (warning) found.push_back(*warning);
  };
  add(Swap(facts));
  add(Quota(facts));
  add(Throttled(facts));
  add(Governor(facts));
  add(SlowedGpu(facts));
  add(ThermalThrottling(facts));
  for (const MachineWarning& warning : RemoteFileSystems(facts)) found.push_back(warning);
  add(Numa(facts));
  add(OpenFiles(facts));
  add(SharedMemory(facts));
  add(HugePages(facts));
  return found;
}

Json ToJson(const MachineWarning& warning) {
  return {{"trap", warning.trap},
          {"what", warning.what},
          {"source", warning.source},
          {"advice", warning.advice}};
}

}  // namespace stoker
