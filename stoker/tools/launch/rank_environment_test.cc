#include "stoker/tools/launch/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::Not;

TEST(RankVariables, AreThoseOfTorchrun) {
  EXPECT_THAT(
      RankVariables({.rank = 2, .world = 4, .port = 29500, .restart = 1, .most_restarts = 3}),
      ElementsAre(std::pair("RANK", "2"), std::pair("WORLD_SIZE", "4"),
                  std::pair("LOCAL_RANK", "2"), std::pair("LOCAL_WORLD_SIZE", "4"),
                  std::pair("MASTER_ADDR", "127.0.0.1"), std::pair("MASTER_PORT", "29500"),
                  std::pair("TORCHELASTIC_RESTART_COUNT", "1"),
                  std::pair("TORCHELASTIC_MAX_RESTARTS", "3")));
}

TEST(RankVariables, NameTheListenerOfTheRankThatHasIt) {
  EXPECT_THAT(RankVariables({.listener = 7}),
              ::testing::Contains(std::pair("STOKER_LISTENER", "7")));
}

TEST(WithVariables, ReplacesWhatAnotherLauncherHasSet) {
  EXPECT_THAT(WithVariables({"RANK=5", "RANKING=x", "PATH=/bin", "STOKER_LISTENER=3",
                             "TORCHELASTIC_USE_AGENT_STORE=True"},
                            {{"RANK", "0"}}),
              ElementsAre("RANKING=x", "PATH=/bin", "RANK=0"));
}

TEST(CpusOfRank, DealsAllCpusOutOnce) {
  std::vector<int> all(7);
  std::iota(all.begin(), all.end(), 10);
  std::vector<int> dealt;
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<int> own = CpusOfRank(all, rank, 3);
    EXPECT_THAT(own.size(), ::testing::AnyOf(2, 3));
    dealt.insert(dealt.end(), own.begin(), own.end());
  }
  EXPECT_EQ(dealt, all);
}

TEST(CpusOfRank, LeavesAllToEachWhereThereAreMoreRanksThanCpus) {
  EXPECT_THAT(CpusOfRank({0, 1}, 3, 5), ElementsAre(0, 1));
}

}  // namespace
}  // namespace stoker
