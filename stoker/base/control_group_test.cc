#include "stoker/base/control_group.h"

#include <fstream>

#include "stoker/base/proc_text.h"
#include "stoker/base/testing.h"

namespace stoker::control_group_test {

// A made-up /sys/fs/cgroup.
class ControlGroups : public testing::Test {
 protected:
  void Write(const std::string& file, std::string_view text) {
    const std::filesystem::path path = mount_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  ControlGroupLimits Read(std::string_view groups) const {
    return ReadControlGroupLimits(groups, mount_.path());
  }

  TempDir mount_;
};

TEST_F(ControlGroups, Version2TakesTheSmallestLimitOnTheWayUp) {
  Write("memory.max", "max\n");
  Write("slice/memory.max", "1000000\n");
  Write("slice/run/memory.max", "3000000\n");
  Write("slice/cpu.max", "250000 100000\n");
  Write("slice/run/cpu.max", "max 100000\n");
  const ControlGroupLimits limits = Read("0::/slice/run\n");
  EXPECT_EQ(limits.memory_bytes, 1'000'000);
  EXPECT_EQ(limits.cpus, 2.5);
}

TEST_F(ControlGroups, Version1ReadsEachControllerInItsFolder) {
  Write("memory/job/memory.limit_in_bytes", "4096000\n");
  Write("cpu/job/cpu.cfs_quota_us", "50000\n");
  Write("cpu/job/cpu.cfs_period_us", "100000\n");
  const ControlGroupLimits limits =
      Read("12:cpuset:/other\n7:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/job\n");
  EXPECT_EQ(limits.memory_bytes, 4'096'000);
  EXPECT_EQ(limits.cpus, 0.5);
}

TEST_F(ControlGroups, AGroupThatIsNotVisibleCountsByItsVisibleParents) {
  Write("memory/memory.limit_in_bytes", "123456\n");
  EXPECT_EQ(Read("4:memory:/host/path/of/container").memory_bytes, 123'456);
}

TEST_F(ControlGroups, TheGroupNearestToItsLimitCountsWithoutWhatIsDroppedFirst) {
  Write("memory.current", "900\n");
  Write("memory.max", "max\n");
  Write("slice/memory.current", "800\n");
  Write("slice/memory.max", "1000\n");
  Write("slice/memory.stat", "anon 300\ninactive_file 300\nactive_file 200\n");
  Write("slice/run/memory.current", "100\n");
  Write("slice/run/memory.max", "1000\n");
  EXPECT_EQ(ControlGroupMemoryShare("0::/slice/run\n", mount_.path()), 0.5);
  EXPECT_EQ(ControlGroupMemoryShare("0::/\n", mount_.path()), std::nullopt);
  Write("memory/job/memory.usage_in_bytes", "600\n");
  Write("memory/job/memory.limit_in_bytes", "800\n");
  Write("memory/memory.usage_in_bytes", "900\n");
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(ControlGroupMemoryShare("7:cpu:/job\n4:memory:/job\n", mount_.path()), 0.75);
}

TEST_F(ControlGroups, NoLimitIsNoLimit) {
  Write("memory.max", "max\n");
  Write("cpu.max", "max 100000\n");
  Write("cpu/cpu.cfs_quota_us", "-1\n");
  Write("cpu/cpu.cfs_period_us", "100000\n");
  const ControlGroupLimits limits = Read("0::/\n3:cpu:/\n");
  EXPECT_FALSE(limits.memory_bytes.has_value());
  EXPECT_FALSE(limits.cpus.has_value());
}

TEST_F(ControlGroups, NonsenseIsSkipped) {
  Write("memory.max", "many\n");
  Write("cpu.max", "1 0\n");
  for (const char* groups : {"", "\n\n", "0", "0:", "0::", "0::/../../..", ":::::", "garbage"}) {
    const ControlGroupLimits limits = Read(groups);
    EXPECT_FALSE(limits.memory_bytes.has_value()) << groups;
    EXPECT_FALSE(limits.cpus.has_value()) << groups;
  }
}

TEST(MemTotal, IsReadInKibibytes) {
  EXPECT_EQ(MeminfoBytes("MemFree:  1 kB\nMemTotal:       24000 kB\nX: 1 kB\n", "MemTotal"),
            24000 * 1024);
  EXPECT_FALSE(MeminfoBytes("MemFree:  1 kB\n", "MemTotal").has_value());
  EXPECT_FALSE(MeminfoBytes("MemTotal:", "MemTotal").has_value());
  EXPECT_FALSE(MeminfoBytes("MemTotal:   \n", "MemTotal").has_value());
  EXPECT_GT(MachineMemoryBytes(), int64_t{16} << 20);
}

}  // namespace stoker::control_group_test
