#include "stoker/machine/live/machine_counters.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <system_error>

#include "stoker/base/proc_text.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Sectors of /proc/diskstats have 512 bytes, whatever the disk's own have.
int64_t BytesOfSectors(int64_t sectors) {
  constexpr int64_t kSector = 512;
  return sectors > kMost / kSector ? kMost : sectors * kSector;
}

// The sum, or the largest number there is.
int64_t Sum(std::initializer_list<int64_t> counts) {
  int64_t sum = 0;
  for (const int64_t count : counts) sum = count > kMost - sum ? kMost : sum + count;
  return sum;
}

// The numbers from word `first` on, up to what is none; nothing if there are fewer than `least`.
std::optional<std::vector<int64_t>> Counts(const std::vector<std::string_view>& words, size_t first,
                                           size_t least) {
  std::vector<int64_t> counts;
  for (size_t i = first; i < words.size(); ++i) {
    const std::optional<int64_t> count = ParseCount(words[i]);
    if (!count) break;
    counts.push_back(*count);
  }
  if (counts.size() < least) return std::nullopt;
  return counts;
}

}  // namespace

// "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL GUEST GUEST_NICE"; old kernels have fewer.
// Guests are part of USER and NICE.
std::vector<CpuCounters> ParseCpuCounters(std::string_view stat) {
  std::vector<CpuCounters> cpus;
  for (const std::string_view line : SplitLines(stat)) {
    if (!line.starts_with("cpu")) continue;
    const std::vector<std::string_view> words = SplitWords(line);
    const std::optional<int64_t> id = ParseCount(words[0].substr(3));  // the sum of all has none
    auto counts = Counts(words, 1, 4);
    if (!id || !counts) continue;
    std::vector<int64_t>& ticks = *counts;
    ticks.resize(8);
    cpus.push_back({.id = *id,
                    .busy = Sum({ticks[0], ticks[1], ticks[2], ticks[5], ticks[6]}),
                    .idle = Sum({ticks[3], ticks[4]}),
                    .stolen = ticks[7]});
  }
  std::ranges::stable_sort(cpus, {}, &CpuCounters::id);
  return cpus;
}

MemoryUse ParseMemoryUse(std::string_view meminfo) {
  return {.total_bytes = MeminfoBytes(meminfo, "MemTotal"),
          .available_bytes = MeminfoBytes(meminfo, "MemAvailable"),
          .swap_total_bytes = MeminfoBytes(meminfo, "SwapTotal"),
          .swap_free_bytes = MeminfoBytes(meminfo, "SwapFree")};
}

// "MAJOR MINOR NAME", then reads, merged, sectors, ms, the same of writes, requests under way, and
// the time in which there were any (the kernel's Documentation/admin-guide/iostats).
std::vector<DiskCounters> ParseDiskCounters(std::string_view diskstats) {
  constexpr size_t kName = 2, kFirst = 3, kRead = 2, kWritten = 6, kBusy = 9;
  std::vector<DiskCounters> disks;
  for (const std::string_view line : SplitLines(diskstats)) {
    const std::vector<std::string_view> words = SplitWords(line);
    const auto counts = Counts(words, kFirst, kBusy + 1);
    if (!counts) continue;
    disks.push_back({.name = std::string(words[kName]),
                     .read_bytes = BytesOfSectors((*counts)[kRead]),
                     .written_bytes = BytesOfSectors((*counts)[kWritten]),
                     .busy_ms = (*counts)[kBusy]});
  }
  return disks;
}

// "  eth0: BYTES PACKETS ERRS DROP FIFO FRAME COMPRESSED MULTICAST", then the same of what was
// sent. A name may hold a colon, numbers do not.
std::vector<NetworkCounters> ParseNetworkCounters(std::string_view dev) {
  constexpr size_t kReceived = 0, kSent = 8;
  std::vector<NetworkCounters> networks;
  for (const std::string_view line : SplitLines(dev)) {
    const size_t colon = line.rfind(':');
    if (colon == line.npos) continue;  // the headings
    const std::string_view name = Trimmed(line.substr(0, colon));
    const auto counts = Counts(SplitWords(line.substr(colon + 1)), 0, kSent + 1);
    if (!counts || name.empty() || name == "lo") continue;
    networks.push_back({.name = std::string(name),
                        .received_bytes = (*counts)[kReceived],
                        .sent_bytes = (*counts)[kSent]});
  }
  return networks;
}

std::vector<DiskCounters> ReadDisks(const fs::path& root) {
  std::vector<DiskCounters> disks = ParseDiskCounters(ReadSmallText(root / "proc/diskstats"));
  std::erase_if(disks, [&root](const DiskCounters& disk) {
    std::error_code error;
    return !fs::exists(root / "sys/block" / disk.name, error);
  });
  return disks;
}

MachineCounters ReadMachineCounters(const fs::path& root) {
  return {.cpus = ParseCpuCounters(ReadSmallText(root / "proc/stat")),
          .memory = ParseMemoryUse(ReadSmallText(root / "proc/meminfo")),
          .disks = ReadDisks(root),
          .networks = ParseNetworkCounters(ReadSmallText(root / "proc/net/dev"))};
}

}  // namespace stoker
