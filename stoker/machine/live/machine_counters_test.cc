// The texts are recorded ones (Linux 6.1) with lines left out, and such as no kernel writes.
#include "stoker/machine/live/machine_counters.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "stoker/base/testing.h"

namespace stoker::machine_counters_test {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr const char* kStat =
    "cpu  120 3 40 900 50 1 2 6 0 0\n"
    "cpu0 60 1 20 450 30 1 1 4 0 0\n"
    "cpu1 60 2 20 450 20 0 1 2 0 0\n"
    "intr 123456 0 9 0\n"
    "ctxt 99\n";

constexpr const char* kDisks =
    " 259       0 nvme0n1 100 0 800 10 5 0 40 5 0 321 15 0 0 0 0 0 0\n"
    " 259       1 nvme0n1p1 90 0 700 10 5 0 40 5 0 300 15 0 0 0 0 0 0\n"
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n";

constexpr const char* kDev =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
    "    lo: 9999      10    0    0    0     0          0         0     9999      10    0\n"
    "  eth0: 1500      12    0    0    0     0          0         0      700       9    0\n"
    "eth0:1: 1         1    0    0    0     0          0         0        2       1    0\n";

TEST(ParseCpuCounters, AddsUpWhatEachCpuDidAndLeavesOutTheirSum) {
  const auto cpus = ParseCpuCounters(kStat);
  ASSERT_EQ(cpus.size(), 2u);
  EXPECT_EQ(cpus[0].id, 0);
  EXPECT_EQ(cpus[0].busy, 60 + 1 + 20 + 1 + 1);
  EXPECT_EQ(cpus[0].idle, 450 + 30);
  EXPECT_EQ(cpus[0].stolen, 4);
  EXPECT_EQ(cpus[1].id, 1);
}

TEST(ParseCpuCounters, OfOldKernelsHaveFewerColumns) {
  const auto cpus = ParseCpuCounters("cpu0 1 2 3 4\n");
  ASSERT_EQ(cpus.size(), 1u);
  EXPECT_EQ(cpus[0].busy, 6);
  EXPECT_EQ(cpus[0].idle, 4);
  EXPECT_EQ(cpus[0].stolen, 0);
}

TEST(ParseCpuCounters, CpusThatCameBackAreSorted) {
  const auto cpus = ParseCpuCounters("cpu2 1 1 1 1\ncpu0 1 1 1 1\n");
  EXPECT_THAT(cpus, ElementsAre(Field(&CpuCounters::id, 0), Field(&CpuCounters::id, 2)));
}

TEST(ParseCpuCounters, LeavesOutWhatIsNoLineOfACpu) {
  for (const char* text : {"", "cpu", "cpu0", "cpu0 1 2 3", "cpu0 a b c d", "cpux 1 2 3 4",
                           "cpu-1 1 2 3 4", "cpu0 -1 2 3 4", "gpu0 1 2 3 4"}) {
    EXPECT_THAT(ParseCpuCounters(text), IsEmpty()) << text;
  }
  const std::string most = std::to_string(std::numeric_limits<int64_t>::max());
  const auto cpus = ParseCpuCounters(fmt::format("cpu0 {0} {0} {0} {0} {0}\n", most));
  ASSERT_EQ(cpus.size(), 1u);
  EXPECT_EQ(cpus[0].busy, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cpus[0].idle, std::numeric_limits<int64_t>::max());
}

TEST(ParseMemoryUse, ReadsWhatIsThere) {
  const MemoryUse use = ParseMemoryUse("MemTotal: 16 kB\nMemFree: 1 kB\nMemAvailable: 6 kB\n");
  EXPECT_EQ(use.total_bytes, 16384);
  EXPECT_EQ(use.available_bytes, 6144);
  EXPECT_FALSE(use.swap_total_bytes);
  EXPECT_FALSE(ParseMemoryUse("").total_bytes);
}

TEST(ParseDiskCounters, CountsSectorsOf512Bytes) {
  const auto disks = ParseDiskCounters(kDisks);
  ASSERT_EQ(disks.size(), 3u);
  EXPECT_EQ(disks[0].name, "nvme0n1");
  EXPECT_EQ(disks[0].read_bytes, 800 * 512);
  EXPECT_EQ(disks[0].written_bytes, 40 * 512);
  EXPECT_EQ(disks[0].busy_ms, 321);
}

TEST(ParseDiskCounters, EveryLineThatLacksAColumnIsLeftOut) {
  const std::string line = "259 0 nvme0n1 100 0 800 10 5 0 40 5 0 321";
  EXPECT_EQ(ParseDiskCounters(line).size(), 1u);
  for (size_t n = 0; n < line.rfind(' '); ++n)
    EXPECT_THAT(ParseDiskCounters(line.substr(0, n)), IsEmpty()) << n;
  EXPECT_THAT(ParseDiskCounters("259 0 x 1 2 three 4 5 6 7 8 9 10"), IsEmpty());
  const auto huge = ParseDiskCounters("1 1 x 1 0 9223372036854775807 1 1 0 1 1 0 1");
  ASSERT_EQ(huge.size(), 1u);
  EXPECT_EQ(huge[0].read_bytes, std::numeric_limits<int64_t>::max());
}

TEST(ParseNetworkCounters, LeavesOutHeadingsAndTheLoopback) {
  const auto networks = ParseNetworkCounters(kDev);
  ASSERT_EQ(networks.size(), 2u);
  EXPECT_EQ(networks[0].name, "eth0");
  EXPECT_EQ(networks[0].received_bytes, 1500);
  EXPECT_EQ(networks[0].sent_bytes, 700);
  EXPECT_EQ(networks[1].name, "eth0:1");
  for (const char* text : {"", ":", ": 1 2 3 4 5 6 7 8 9", "eth0: 1 2 3", "eth0: x"})
    EXPECT_THAT(ParseNetworkCounters(text), IsEmpty()) << text;
}

class MadeUpRoot {
 public:
  void Write(const std::string& file, std::string_view text) {
    const std::filesystem::path path = root_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::filesystem::path& path() const { return root_.path(); }

 private:
  TempDir root_;
};

TEST(ReadMachineCounters, ReadsAllOfThemAndNoPartitions) {
  MadeUpRoot root;
  root.Write("proc/stat", kStat);
  root.Write("proc/meminfo", "MemTotal: 16 kB\n");
  root.Write("proc/diskstats", kDisks);
  root.Write("proc/net/dev", kDev);
  root.Write("sys/block/nvme0n1/size", "1");
  const MachineCounters counters = ReadMachineCounters(root.path());
  EXPECT_EQ(counters.cpus.size(), 2u);
  EXPECT_EQ(counters.memory.total_bytes, 16384);
  ASSERT_EQ(counters.disks.size(), 1u);
  EXPECT_EQ(counters.disks[0].name, "nvme0n1");
  EXPECT_EQ(counters.networks.size(), 2u);
}

TEST(ReadMachineCounters, OfAMachineThatShowsNothingIsEmpty) {
  MadeUpRoot root;
  const MachineCounters counters = ReadMachineCounters(root.path());
  EXPECT_THAT(counters.cpus, IsEmpty());
  EXPECT_FALSE(counters.memory.total_bytes);
  EXPECT_THAT(counters.disks, IsEmpty());
  EXPECT_THAT(counters.networks, IsEmpty());
}

}  // namespace stoker::machine_counters_test
