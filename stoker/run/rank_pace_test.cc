#include "stoker/run/rank_pace.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(PaceOf, TellsWaitingForTheSlowestFromTheExchange) {
  // The second works for 9 of 10 seconds, so the others wait for it, and the exchange takes 1.
  const auto pace = PaceOf(
      {{.seconds = 10, .joined = 4}, {.seconds = 10, .joined = 1}, {.seconds = 10, .joined = 7}});
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->slowest, 1);
  EXPECT_EQ(pace->fastest, 2);
  EXPECT_DOUBLE_EQ(pace->exchanged, 0.1);
  EXPECT_DOUBLE_EQ(pace->waited, 0.3);
  EXPECT_EQ(pace->Brief(), "ranks wait 30% for rank 1");
  EXPECT_EQ(pace->Sentence(),
            "waited 30% of the time of steps for slower ones, and exchanged for 10%; slowest rank "
            "1, fastest rank 2");
}

TEST(PaceOf, SaysNothingOfRanksThatAreAlike) {
  EXPECT_EQ(PaceOf({{.seconds = 10, .joined = 1}, {.seconds = 10, .joined = 1.2}})->Brief(), "");
}

TEST(PaceOf, NeedsTwoRanksAndTime) {
  EXPECT_FALSE(PaceOf({{.seconds = 10, .joined = 1}}));
  EXPECT_FALSE(PaceOf({{}, {}}));
  EXPECT_FALSE(PaceOf({}));
}

}  // namespace
}  // namespace stoker
