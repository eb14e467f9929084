#include "stoker/machine/warnings.h"

#include <numeric>

#include "stoker/base/testing.h"

namespace stoker::warnings_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Nothing is wrong with it.
MachineFacts GoodMachine() {
  MachineFacts facts;
  facts.cpu.allowed.resize(8);
  std::iota(facts.cpu.allowed.begin(), facts.cpu.allowed.end(), 0);
  facts.cpu.online = 8;
  facts.cpu.governor = "performance";
  facts.cpu.thermal_throttles = 0;
  facts.memory.total_bytes = int64_t{64} << 30;
  facts.memory.swap_total_bytes = int64_t{8} << 30;
  facts.memory.swap_used_bytes = 0;
  facts.memory.huge_pages = "madvise";
  facts.memory.huge_pages_defrag = "madvise";
  facts.memory.nodes = {{.id = 0, .memory_bytes = int64_t{64} << 30, .cpus = facts.cpu.allowed}};
  facts.limits.open_files_known = true;
  facts.limits.open_files = 65536;
  facts.limits.open_files_hard = 65536;
  facts.limits.shared_memory_bytes = int64_t{32} << 30;
  facts.gpu.gpus = {{.name = "A GPU"}};
  facts.file_systems = {{.path = "/data", .type = "ext4"}};
  return facts;
}

std::vector<std::string> TrapsOf(const MachineFacts& facts) {
  std::vector<std::string> names;
  for (const MachineWarning& warning : FindTraps(facts)) {
    names.push_back(warning.trap);
    EXPECT_FALSE(warning.what.empty());
    EXPECT_FALSE(warning.source.empty());
    EXPECT_FALSE(warning.advice.empty());
  }
  return names;
}

TEST(FindTraps, FindsNoneOnAGoodMachine) { EXPECT_THAT(TrapsOf(GoodMachine()), IsEmpty()); }

TEST(FindTraps, FindsNoneWhereNothingIsKnown) { EXPECT_THAT(TrapsOf(MachineFacts()), IsEmpty()); }

TEST(FindTraps, QuotaBelowTheCpusOfTheMask) {
  MachineFacts facts = GoodMachine();
  facts.cpu.quota = 1.5;
  EXPECT_THAT(TrapsOf(facts), ElementsAre("quota"));
  facts.cpu.periods = 200;
  facts.cpu.throttled_periods = 50;
  const MachineWarning warning = FindTraps(facts).front();
  EXPECT_THAT(warning.what, HasSubstr("1.5 CPUs, and 8"));
  EXPECT_THAT(warning.what, HasSubstr("50 of 200"));
  EXPECT_THAT(warning.advice, HasSubstr("OMP_NUM_THREADS=2"));
  facts.cpu.quota = 8;
  facts.cpu.throttled_periods = 1;
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
}

TEST(FindTraps, AGroupThatIsOftenStoppedByAQuotaAboveIt) {
  MachineFacts facts = GoodMachine();
  facts.cpu.periods = 1000;
  facts.cpu.throttled_periods = 9;
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
  facts.cpu.throttled_periods = 10;
  EXPECT_THAT(TrapsOf(facts), ElementsAre("throttled"));
  facts.cpu.periods = 0;
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
}

TEST(FindTraps, PowersaveIsOneUnlessThePreferenceIsForSpeed) {
  MachineFacts facts = GoodMachine();
  facts.cpu.governor = "powersave";
  EXPECT_THAT(TrapsOf(facts), ElementsAre("governor"));
  for (const char* slow : {"power", "balance_power"}) {
    facts.cpu.preference = slow;
    EXPECT_THAT(TrapsOf(facts), ElementsAre("governor")) << slow;
    EXPECT_THAT(FindTraps(facts).front().what, HasSubstr(slow));
  }
  for (const char* fast : {"performance", "balance_performance", "default"}) {
    facts.cpu.preference = fast;
    EXPECT_THAT(TrapsOf(facts), IsEmpty()) << fast;
  }
}

TEST(FindTraps, HeatOfCpusAndGpus) {
  MachineFacts facts = GoodMachine();
  facts.cpu.thermal_throttles = 12;
  facts.gpu.gpus[0].slowed_by = {"power", "heat"};
  EXPECT_THAT(TrapsOf(facts), ElementsAre("gpu_slowed", "heat"));
  EXPECT_THAT(FindTraps(facts)[0].what, HasSubstr("A GPU are lowered now: power, heat"));
  EXPECT_THAT(FindTraps(facts)[1].what, HasSubstr("12 times"));
}

TEST(FindTraps, LittleSharedMemory) {
  MachineFacts facts = GoodMachine();
  facts.limits.shared_memory_bytes = int64_t{64} << 20;
  EXPECT_THAT(TrapsOf(facts), ElementsAre("shared_memory"));
  EXPECT_THAT(FindTraps(facts)[0].what, HasSubstr("67 MB"));
}

TEST(FindTraps, FewOpenFiles) {
  MachineFacts facts = GoodMachine();
  facts.limits.open_files = 1024;
  facts.limits.open_files_hard = 4096;
  EXPECT_THAT(TrapsOf(facts), ElementsAre("open_files"));
  EXPECT_THAT(FindTraps(facts)[0].advice, HasSubstr("ulimit -n 4096"));
  facts.limits.open_files_hard = std::nullopt;
  EXPECT_THAT(FindTraps(facts)[0].advice, HasSubstr("ulimit -n 65536"));
  facts.limits.open_files = std::nullopt;  // unlimited
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
}

TEST(FindTraps, SwapInUseButNotSwapThatIsThere) {
  MachineFacts facts = GoodMachine();
  facts.memory.swap_used_bytes = int64_t{1} << 20;
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
  facts.memory.swap_used_bytes = int64_t{1} << 30;
  EXPECT_THAT(TrapsOf(facts), ElementsAre("swap"));
}

TEST(FindTraps, CpusOfOneNodeWhereOthersHaveMemory) {
  MachineFacts facts = GoodMachine();
  facts.memory.nodes = {{.id = 0, .memory_bytes = 1'000'000'000, .cpus = facts.cpu.allowed},
                        {.id = 1, .memory_bytes = 0, .cpus = {8, 9}}};
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
  facts.memory.nodes[1].memory_bytes = 1'000'000'000;
  EXPECT_THAT(TrapsOf(facts), ElementsAre("numa"));
  facts.cpu.allowed.push_back(8);
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
}

TEST(FindTraps, HugePagesThatAreOffOrMadeAtOnce) {
  MachineFacts facts = GoodMachine();
  facts.memory.huge_pages = "never";
  EXPECT_THAT(TrapsOf(facts), ElementsAre("huge_pages"));
  facts.memory.huge_pages = "always";
  EXPECT_THAT(TrapsOf(facts), IsEmpty());
  facts.memory.huge_pages_defrag = "always";
  EXPECT_THAT(TrapsOf(facts), ElementsAre("huge_pages"));
}

TEST(FindTraps, EachPathOnAnotherMachine) {
  MachineFacts facts = GoodMachine();
  facts.file_systems.push_back({.path = "/a", .type = "nfs4", .remote = true});
  facts.file_systems.push_back({.path = "/b", .remote = true});
  EXPECT_THAT(TrapsOf(facts), ElementsAre("network_file_system", "network_file_system"));
  EXPECT_THAT(FindTraps(facts)[0].what, HasSubstr("/a is on another machine (nfs4)"));
}

TEST(FindTraps, AreJsonWithWhatWhereAndWhatToDo) {
  MachineFacts facts = GoodMachine();
  facts.limits.shared_memory_bytes = 0;
  const Json json = ToJson(FindTraps(facts).front());
  EXPECT_EQ(json["trap"], "shared_memory");
  EXPECT_EQ(json["source"], "/dev/shm");
  EXPECT_TRUE(json["what"].is_string() && json["advice"].is_string());
}

}  // namespace stoker::warnings_test
