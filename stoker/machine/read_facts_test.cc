#include "stoker/machine/read_facts.h"

#include <fmt/format.h>

#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::read_facts_test {

using testing::ElementsAre;
using testing::IsEmpty;

// A made-up machine: the files of its /proc and /sys.
class Machine {
 public:
  void Write(const std::string& file, std::string_view text) {
    const std::filesystem::path path = root_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // CPUs as /proc/cpuinfo lists them, in so many sockets.
  void AddCpus(int cpus, int sockets, int threads_a_core = 1) {
    std::string text;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      const int in_socket = cpu % (cpus / sockets);
      text += fmt::format(
          "processor\t: {}\nmodel name\t: A CPU @ 2.00GHz\nphysical id\t: {}\ncore id\t\t: {}\n"
          "cpu cores\t: 9\n\n",
          cpu, cpu / (cpus / sockets), in_socket / threads_a_core);
    }
    Write("proc/cpuinfo", text);
  }
  void WriteOfCpu(int cpu, const std::string& file, std::string_view text) {
    Write(fmt::format("sys/devices/system/cpu/cpu{}/{}", cpu, file), text);
  }
  void Allow(std::string_view cpus) {
    Write("proc/self/status",
          fmt::format("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{}\n", cpus));
  }
  MachineFacts Read() const { return ReadMachineFacts(root_.path()); }

 private:
  TempDir root_;
};

TEST(ReadMachineFacts, OfADesktopAreWhatItsKernelSays) {
  Machine machine;
  machine.AddCpus(8, 1, 2);
  machine.Allow("0-7");
  machine.Write("proc/sys/kernel/hostname", "desk\n");
  machine.Write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  machine.Write("proc/meminfo",
                "MemTotal:       16000000 kB\nMemAvailable:   12000000 kB\nSwapTotal: 2000 "
                "kB\nSwapFree: 500 kB\n");
  machine.Write("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
  machine.Write("proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units     \n"
                "Max open files            1024                 524288               files     \n"
                "Max locked memory         unlimited            unlimited            bytes     \n");
  machine.Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  machine.Write("sys/kernel/mm/transparent_hugepage/defrag",
                "always defer defer+madvise [madvise] never\n");
  machine.WriteOfCpu(0, "cpufreq/scaling_governor", "performance\n");
  for (int cpu = 1; cpu < 8; ++cpu)
    machine.WriteOfCpu(cpu, "cpufreq/scaling_governor", "powersave\n");
  machine.WriteOfCpu(1, "cpufreq/scaling_driver", "intel_pstate\n");
  machine.WriteOfCpu(1, "cpufreq/energy_performance_preference", "balance_power\n");

  const MachineFacts facts = machine.Read();
  EXPECT_EQ(facts.host, "desk");
  EXPECT_EQ(facts.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(facts.cpu.model, "A CPU @ 2.00GHz");
  EXPECT_EQ(facts.cpu.online, 8);
  EXPECT_EQ(facts.cpu.cores, 4);
  EXPECT_EQ(facts.cpu.sockets, 1);
  EXPECT_THAT(facts.cpu.allowed, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(facts.cpu.quota.has_value());
  EXPECT_EQ(facts.cpu.governor, "powersave");  // of most
  EXPECT_EQ(facts.cpu.driver, "intel_pstate");
  EXPECT_EQ(facts.cpu.preference, "balance_power");
  EXPECT_EQ(UsableCpus(facts.cpu), 8);
  EXPECT_EQ(facts.memory.total_bytes, int64_t{16'000'000} * 1024);
  EXPECT_EQ(facts.memory.available_bytes, int64_t{12'000'000} * 1024);
  EXPECT_EQ(facts.memory.swap_used_bytes, 1500 * 1024);
  EXPECT_EQ(facts.memory.huge_pages, "madvise");
  EXPECT_EQ(facts.memory.huge_pages_defrag, "madvise");
  EXPECT_TRUE(facts.limits.open_files_known);
  EXPECT_EQ(facts.limits.open_files, 1024);
  EXPECT_EQ(facts.limits.open_files_hard, 524288);
  EXPECT_TRUE(facts.limits.locked_memory_known);
  EXPECT_FALSE(facts.limits.locked_memory_bytes.has_value());
  EXPECT_EQ(facts.limits.control_groups, "v2");
}

TEST(ReadMachineFacts, OfAContainerOfVersion2HaveItsQuotaAndItsThrottling) {
  Machine machine;
  machine.AddCpus(64, 2);
  machine.Allow("0-15");
  machine.Write("proc/meminfo", "MemTotal: 1000000 kB\n");
  machine.Write("proc/self/cgroup", "0::/\n");
  machine.Write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  machine.Write("sys/fs/cgroup/memory.max", "4096000\n");
  machine.Write("sys/fs/cgroup/cpu.stat", "usage_usec 5\nnr_periods 200\nnr_throttled 50\n");
  const MachineFacts facts = machine.Read();
  EXPECT_EQ(facts.cpu.online, 64);
  EXPECT_EQ(facts.cpu.sockets, 2);
  EXPECT_EQ(facts.cpu.quota, 2.5);
  EXPECT_EQ(UsableCpus(facts.cpu), 3);
  EXPECT_EQ(facts.cpu.periods, 200);
  EXPECT_EQ(facts.cpu.throttled_periods, 50);
  EXPECT_EQ(facts.memory.limit_bytes, 4'096'000);
}

TEST(ReadMachineFacts, OfAContainerOfVersion1HaveItsQuotaAndNoLimitBeyondTheMemory) {
  Machine machine;
  machine.Allow("0-3");
  machine.Write("proc/meminfo", "MemTotal: 1000 kB\n");
  machine.Write("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n0::/\n");
  machine.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  machine.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  machine.Write("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 7\nnr_throttled 3\nthrottled_time 1\n");
  machine.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const MachineFacts facts = machine.Read();
  EXPECT_EQ(facts.cpu.quota, 0.5);
  EXPECT_EQ(UsableCpus(facts.cpu), 1);
  EXPECT_EQ(facts.cpu.throttled_periods, 3);
  EXPECT_FALSE(facts.memory.limit_bytes.has_value());
  EXPECT_EQ(facts.limits.control_groups, "v1 and v2");
}

TEST(ReadMachineFacts, CountAPackagesHeatOnceAndOnlyThatOfAllowedCpus) {
  Machine machine;
  machine.Allow("0-1");
  for (int cpu = 0; cpu < 4; ++cpu) {
    machine.WriteOfCpu(cpu, "thermal_throttle/core_throttle_count", "2\n");
    machine.WriteOfCpu(cpu, "thermal_throttle/package_throttle_count", cpu < 2 ? "30\n" : "500\n");
    machine.WriteOfCpu(cpu, "topology/physical_package_id", cpu < 2 ? "0\n" : "1\n");
  }
  EXPECT_EQ(machine.Read().cpu.thermal_throttles, 2 + 2 + 30);
}

TEST(ReadMachineFacts, OfTwoNodesHaveTheirMemoryAndCpus) {
  Machine machine;
  machine.Write("sys/devices/system/node/online", "0-1\n");
  machine.Write("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  machine.Write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  2000 kB\n");
  machine.Write("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  machine.Write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  1000 kB\n");
  const auto nodes = machine.Read().memory.nodes;
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].memory_bytes, 2000 * 1024);
  EXPECT_THAT(nodes[1].cpus, ElementsAre(2, 3, 6, 7));
}

TEST(ReadMachineFacts, AreEmptyWhereNothingCanBeRead) {
  const MachineFacts facts = Machine().Read();
  EXPECT_EQ(facts.cpu.model, "");
  EXPECT_THAT(facts.cpu.allowed, IsEmpty());
  EXPECT_EQ(UsableCpus(facts.cpu), 1);
  EXPECT_FALSE(facts.memory.total_bytes.has_value());
  EXPECT_FALSE(facts.limits.open_files_known);
  EXPECT_FALSE(facts.limits.shared_memory_bytes.has_value());
  EXPECT_TRUE(ToJson(facts)["cpu"]["model"].is_null());
  EXPECT_TRUE(ToJson(facts)["limits"]["open_files"].is_null());
}

TEST(ReadMachineFacts, SurviveNonsenseInEveryFile) {
  for (const std::string nonsense :
       {"", "\n\n", ":::", "-1", "99999999999999999999999999", "\xff\xfe: \x01", "0-\n-0\n,",
        "MemTotal: kB\nSwapTotal: 5 kB\nSwapFree: 9 kB\n", "Max open files  many  more\n",
        "Max open files\n"}) {
    Machine machine;
    for (const char* file :
         {"proc/cpuinfo", "proc/meminfo", "proc/self/status", "proc/self/limits",
          "proc/self/cgroup", "sys/devices/system/node/online", "sys/fs/cgroup/cpu.stat",
          "sys/kernel/mm/transparent_hugepage/enabled"}) {
      machine.Write(file, nonsense);
    }
    const MachineFacts facts = machine.Read();
    EXPECT_FALSE(facts.limits.open_files_known) << nonsense;
    EXPECT_GE(facts.memory.swap_used_bytes.value_or(0), 0) << nonsense;
    EXPECT_EQ(facts.memory.huge_pages, "") << nonsense;
    EXPECT_FALSE(facts.cpu.throttled_periods.has_value()) << nonsense;
  }
}

TEST(ReadMachineFacts, OfThisMachineAreNotEmpty) {
  const MachineFacts facts = ReadMachineFacts();
  EXPECT_THAT(facts.cpu.allowed, testing::Not(IsEmpty()));
  EXPECT_GT(facts.memory.total_bytes.value_or(0), int64_t{16} << 20);
  EXPECT_TRUE(facts.limits.open_files_known);
}

}  // namespace stoker::read_facts_test
