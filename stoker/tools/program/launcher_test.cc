#include "stoker/tools/program/launcher.h"

#include <map>

#include "stoker/base/testing.h"

namespace stoker::launcher_test {

using Variables = std::map<std::string, std::string>;

std::optional<Launch> Find(const Variables& variables) {
  return FindOtherProcesses([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(FindOtherProcesses, KnowsEachLauncherBySeveralProcessesAndSaysWhatItFound) {
  const struct {
    Variables variables;
    const char *launcher, *found;
  } cases[] = {
      {{{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"LOCAL_RANK", "1"}},
       "torchrun",
       "WORLD_SIZE=2, RANK=1, LOCAL_RANK=1"},
      {{{"WORLD_SIZE", "2"}, {"RANK", "0"}}, "torchrun", "WORLD_SIZE=2, RANK=0"},
      {{{"LOCAL_RANK", "3"}}, "torchrun", "LOCAL_RANK=3"},
      {{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}, "Slurm", "SLURM_NTASKS=4, SLURM_PROCID=0"},
      {{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}},
       "Slurm",
       "SLURM_NTASKS=4, SLURM_STEP_NUM_TASKS=4, SLURM_PROCID=2"},
      {{{"OMPI_COMM_WORLD_SIZE", "8"}}, "Open MPI", "OMPI_COMM_WORLD_SIZE=8"},
      {{{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}, "MPI (PMI)", "PMI_SIZE=2, PMI_RANK=1"},
  };
  for (const auto& [variables, launcher, found] : cases) {
    const std::optional<Launch> launch = Find(variables);
    ASSERT_TRUE(launch) << found;
    EXPECT_EQ(launch->launcher, launcher);
    EXPECT_EQ(launch->found, found);
  }
}

TEST(FindOtherProcesses, FindsNoneWhereThereIsOneProcess) {
  const Variables cases[] = {
      {},
      {{"WORLD_SIZE", "1"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}},
      {{"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}},
      {{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}},
      {{"SLURM_NTASKS", "4"}},  // a job's allocation, and a shell in it
      {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}},
      {{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMI_SIZE", "1"}},
      {{"WORLD_SIZE", "many"}, {"PMI_SIZE", ""}},
  };
  for (const Variables& variables : cases) {
    EXPECT_FALSE(Find(variables)) << testing::PrintToString(variables);
  }
}

TEST(FindRestarts, ReadsWhatTorchrunSetsAndTakesNonsenseForNone) {
  const auto of = [](const char* count, const char* most) {
    return FindRestarts([&](const char* name) -> const char* {
      if (name == std::string_view("TORCHELASTIC_RESTART_COUNT")) return count;
      return name == std::string_view("TORCHELASTIC_MAX_RESTARTS") ? most : nullptr;
    });
  };
  EXPECT_EQ(of("2", "3").done, 2);
  EXPECT_EQ(of("2", "3").most, 3);
  EXPECT_EQ(of(nullptr, nullptr).most, 0);
  EXPECT_EQ(of("1", nullptr).most, 1);
  EXPECT_EQ(of("-1", "x").done, 0);
}

}  // namespace stoker::launcher_test
