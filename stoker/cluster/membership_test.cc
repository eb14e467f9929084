#include "stoker/cluster/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::membership_test {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<Membership> Find(const Variables& variables) {
  return FindMembership([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kTorchrun = {{"RANK", "5"},         {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},   {"LOCAL_WORLD_SIZE", "4"},
                             {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}};

TEST(FindMembership, ReadsTorchrunAndWhoKeepsItsStore) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(kTorchrun));
  EXPECT_EQ(found.rank, 5);
  EXPECT_EQ(found.world, 8);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.local_world, 4);
  EXPECT_EQ(found.host, "n0");
  EXPECT_EQ(found.port, 29500);
  EXPECT_FALSE(found.agent_has_store);
  Variables agent = kTorchrun;
  agent["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  agent["TORCHELASTIC_RESTART_COUNT"] = "2";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership again, Find(agent));
  EXPECT_TRUE(again.agent_has_store);
  EXPECT_EQ(again.restart, 2);
}

TEST(FindMembership, GivesTheListenerOfStokerLaunchToRank0Alone) {
  Variables variables = kTorchrun;
  variables["STOKER_LISTENER"] = "7";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership other, Find(variables));
  EXPECT_EQ(other.listener, -1);
  variables["RANK"] = "0";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership first, Find(variables));
  EXPECT_EQ(first.listener, 7);
}

TEST(FindMembership, DerivesThePlaceOfASlurmStepFromItsHostsAndJob) {
  const Variables step = {{"SLURM_PROCID", "3"},
                          {"SLURM_STEP_NUM_TASKS", "4"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_JOB_ID", "4711"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_NTASKS", "4"},
                          {"SLURM_STEP_NODELIST", "n[07-08]"}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(step));
  EXPECT_EQ(found.launcher, "Slurm");
  EXPECT_EQ(found.rank, 3);
  EXPECT_EQ(found.host, "n07");
  Variables first = step;
  first["SLURM_PROCID"] = "0";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership same, Find(first));
  EXPECT_EQ(same.port, found.port);
  EXPECT_GE(same.port, 1024);
  EXPECT_LE(same.port, 32767);
  first["SLURM_STEP_ID"] = "1";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership other, Find(first));
  EXPECT_NE(other.port, found.port);
}

TEST(FindMembership, IsAloneInTheShellOfAnAllocationAndWithoutALauncher) {
  for (const Variables& variables : std::vector<Variables>{
           {},
           {{"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_NODELIST", "n[1-8]"}},
           {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "8"}},
           {{"WORLD_SIZE", "1"}, {"RANK", "0"}},
           {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(variables));
    EXPECT_TRUE(found.alone()) << ::testing::PrintToString(variables);
  }
}

TEST(FindMembership, DerivesThePlaceOfMpiOnOneMachineAndAsksForItOnSeveral) {
  Variables mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                   {"PMIX_NAMESPACE", "prterun-n1-99@1"}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(mpi));
  EXPECT_EQ(found.launcher, "Open MPI");
  EXPECT_EQ(found.host, "127.0.0.1");
  mpi["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  const auto several = Find(mpi);
  ASSERT_FALSE(several.ok());
  EXPECT_THAT(several.status().message(), HasSubstr("MASTER_ADDR"));
  mpi["MASTER_ADDR"] = "n1";
  mpi["MASTER_PORT"] = "3000";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership told, Find(mpi));
  EXPECT_EQ(told.host, "n1");
}

TEST(FindMembership, ReadsMpich) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find({{"PMI_RANK", "1"},
                                                            {"PMI_SIZE", "2"},
                                                            {"MPI_LOCALRANKID", "1"},
                                                            {"MPI_LOCALNRANKS", "2"},
                                                            {"PMI_JOBID", "x"}}));
  EXPECT_EQ(found.launcher, "MPICH");
  EXPECT_EQ(found.host, "127.0.0.1");
}

TEST(FindMembership, TakesTheIndexOfAKubernetesPodWithTheWorldOfItsManifest) {
  const Variables pod = {{"JOB_COMPLETION_INDEX", "2"},
                         {"WORLD_SIZE", "3"},
                         {"MASTER_ADDR", "train-0.train"},
                         {"MASTER_PORT", "4000"}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(pod));
  EXPECT_EQ(found.rank, 2);
  EXPECT_EQ(found.world, 3);
  EXPECT_EQ(found.local_rank, 0);
  EXPECT_EQ(found.local_world, 1);
  EXPECT_EQ(found.launcher, "Kubernetes");
  EXPECT_EQ(found.host, "train-0.train");
  EXPECT_EQ(found.port, 4000);

  // An operator that sets RANK, as Kubeflow's does, is believed.
  Variables operated = pod;
  operated["RANK"] = "1";
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership told, Find(operated));
  EXPECT_EQ(told.rank, 1);

  Variables beyond = pod;
  beyond["JOB_COMPLETION_INDEX"] = "3";
  EXPECT_THAT(Find(beyond), FailsWith(StatusCode::kInvalidArgument, "JOB_COMPLETION_INDEX='3'"));
}

TEST(FindMembership, BelievesMpirunRatherThanTheStepThatStartedItsHelpers) {
  const Variables step = {{"SLURM_PROCID", "1"},
                          {"SLURM_STEP_NUM_TASKS", "2"},
                          {"MASTER_ADDR", "n0"},
                          {"MASTER_PORT", "4000"}};
  Variables open_mpi = step, mpich = step, srun = step;
  open_mpi.insert({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
  mpich.insert({{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}});
  for (const Variables& variables : {open_mpi, mpich}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(variables));
    EXPECT_EQ(found.rank, 5) << found.launcher;
    EXPECT_EQ(found.world, 8) << found.launcher;
  }
  srun.insert({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find(srun));
  EXPECT_EQ(found.launcher, "Slurm");
  EXPECT_EQ(found.rank, 1);
}

TEST(FindMembership, PodsOfAnIndexedJobWithoutAWorldAreAlone) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Membership found, Find({{"JOB_COMPLETION_INDEX", "2"}}));
  EXPECT_TRUE(found.alone());
}

struct Broken {
  const char* name;
  Variables changes;
  std::string says;
};

TEST(FindMembership, NamesTheVariableThatIsWrong) {
  const std::vector<Broken> cases = {
      {"NoRank", {{"RANK", ""}}, "no RANK"},
      {"RankTooHigh", {{"RANK", "8"}}, "RANK='8'"},
      {"NegativeRank", {{"RANK", "-1"}}, "RANK='-1'"},
      {"NoNumber", {{"WORLD_SIZE", "many"}}, "WORLD_SIZE='many'"},
      {"EmptyWorld", {{"WORLD_SIZE", "0"}}, "WORLD_SIZE='0'"},
      {"Port", {{"MASTER_PORT", "65536"}}, "MASTER_PORT='65536'"},
      {"NoPort", {{"MASTER_PORT", ""}}, "no port"},
      {"NoHost", {{"MASTER_ADDR", ""}}, "no host"},
      {"NoPlace", {{"MASTER_ADDR", ""}, {"MASTER_PORT", ""}}, "MASTER_ADDR"},
      {"Local", {{"LOCAL_RANK", "9"}}, "LOCAL_RANK='9'"},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.name);
    Variables variables = kTorchrun;
    for (const auto& [name, value] : broken.changes) variables[name] = value;
    const auto found = Find(variables);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(found.status().message(), HasSubstr(broken.says));
  }
}

TEST(FirstHost, ReadsListsAsSlurmWritesThem) {
  for (const auto& [list, host] :
       std::map<std::string, std::string>{{"n1", "n1"},
                                          {"n1,n2", "n1"},
                                          {"n[1-3]", "n1"},
                                          {"n[007-9,12],gpu3", "n007"},
                                          {"rack[2,4]n[3-4]-ib", "rack2n3-ib"},
                                          {"a.b-c.d", "a.b-c.d"}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string found, FirstHost(list));
    EXPECT_EQ(found, host) << list;
  }
  EXPECT_FALSE(FirstHost("n[1-3").ok());
  EXPECT_FALSE(FirstHost("").ok());
}

}  // namespace
}  // namespace stoker::membership_test
