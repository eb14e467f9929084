#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/cluster/rank_judge_internal.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeout{3000}, kBeat{500};

class RankJudgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int64_t rank : {0, 1, 2}) judge_.Heard(rank, At(12, 5));
  }

  static RankReport At(int step, int64_t started, int64_t awaited = 0) {
    return {.doing = "computing step " + std::to_string(step),
            .started = started,
            .awaited = awaited,
            .what = "the gradients of step " + std::to_string(step)};
  }

  // Lets time pass, in which `heard` are heard of, each saying what it said last.
  std::string After(milliseconds time, const std::vector<std::pair<int64_t, RankReport>>& heard) {
    for (milliseconds passed{0}; passed < time; passed += kBeat) {
      for (const auto& [rank, report] : heard) judge_.Heard(rank, report);
      judge_.Look(kBeat);
    }
    const auto& fault = judge_.Look({});
    return fault ? fault->sentence : "";
  }

  RankJudge judge_{{"a", "b", "c"}, kTimeout};
};

TEST_F(RankJudgeTest, FindsNothingWhereAllAreHeardOf) {
  EXPECT_EQ(After(10 * kTimeout, {{0, At(12, 5)}, {1, At(12, 5)}, {2, At(12, 5)}}), "");
}

TEST_F(RankJudgeTest, ARankWhoseLastWordWasAWaitThatHasLongEndedIsLostAndNotTheNetwork) {
  EXPECT_EQ(After(kTimeout, {{0, At(12, 5)}, {1, At(12, 5, 5)}, {2, At(12, 5)}}), "");
  EXPECT_THAT(After(2 * kTimeout, {{0, At(13, 6)}, {2, At(13, 6)}}),
              testing::HasSubstr("rank 1 on b is lost: nothing was heard of it for 3 s"));
}

TEST_F(RankJudgeTest, NamesAClosedConnectionAtOnceWithHostAndWhatTheRankDid) {
  judge_.Closed(2);
  EXPECT_EQ(After({}, {}),
            "rank 2 on c is lost: its connection was closed; it was last seen computing step 12");
  EXPECT_EQ(judge_.Look({})->rank, 2);
}

TEST_F(RankJudgeTest, AConnectionMayCloseAfterARankHasEnded) {
  judge_.Ended(2, At(12, 5), "");
  judge_.Closed(2);
  EXPECT_EQ(After(2 * kTimeout, {{0, At(12, 5)}, {1, At(12, 5)}}), "");
}

TEST_F(RankJudgeTest, NamesARankThatSaysNothing) {
  const std::vector<std::pair<int64_t, RankReport>> others = {{0, At(12, 5)}, {2, At(12, 5)}};
  EXPECT_EQ(After(kTimeout, others), "");
  EXPECT_EQ(After(kBeat, others),
            "rank 1 on b is lost: nothing was heard of it for 3 s; it was last seen computing step "
            "12");
}

TEST_F(RankJudgeTest, ARankThatIsHeardOfAgainIsNotLost) {
  const std::vector<std::pair<int64_t, RankReport>> others = {{0, At(12, 5)}, {2, At(12, 5)}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(After(kTimeout, others), "");
    judge_.Heard(1, At(12, 5));
  }
}

TEST_F(RankJudgeTest, NamesThoseForWhichOthersWait) {
  const std::vector<std::pair<int64_t, RankReport>> all = {
      {0, At(12, 7, 7)}, {1, At(12, 6)}, {2, At(11, 6)}};
  // What was waited for since a rank was last heard of counts with its next word.
  EXPECT_EQ(After(kTimeout + kBeat, all), "");
  EXPECT_EQ(After(kBeat, all),
            "rank 1 on b did not come within 3 s: rank 0 waits for the gradients of step 12; it "
            "was last seen computing step 12 (nor did rank 2)");
}

TEST_F(RankJudgeTest, AWaitThatEndsInTimeIsNoFault) {
  for (int64_t exchange = 7; exchange < 20; ++exchange)
    EXPECT_EQ(After(kTimeout, {{0, At(12, exchange, exchange)}, {1, At(12, 6)}, {2, At(12, 6)}}),
              "");
}

TEST_F(RankJudgeTest, NamesNobodyWhereAllTakePart) {
  EXPECT_EQ(After(kTimeout + 2 * kBeat, {{0, At(12, 7, 7)}, {1, At(12, 7, 7)}, {2, At(12, 8, 7)}}),
            "rank 0 has waited 3 s for what no rank holds up: the gradients of step 12; the "
            "network between the ranks may be interrupted");
  EXPECT_EQ(judge_.Look({})->rank, -1);
}

TEST_F(RankJudgeTest, SaysAtOnceThatARankHasEndedForWhichOthersWait) {
  judge_.Ended(1, At(12, 6), "");
  EXPECT_EQ(After(kBeat, {{0, At(12, 6, 6)}}), "");
  EXPECT_EQ(After(kBeat, {{0, At(13, 7, 7)}}),
            "rank 1 on b has ended, and rank 0 waits for it: the gradients of step 13");
}

TEST_F(RankJudgeTest, PassesOnWhyARankHasFailed) {
  judge_.Ended(1, At(12, 6), "photo.jpg is damaged");
  judge_.Closed(1);
  EXPECT_EQ(After({}, {}), "rank 1 failed: photo.jpg is damaged");
}

TEST_F(RankJudgeTest, KeepsTheFirstFault) {
  judge_.Closed(2);
  judge_.Closed(1);
  judge_.Ended(0, At(12, 6), "something else");
  EXPECT_EQ(judge_.Look(2 * kTimeout)->rank, 2);
}

TEST_F(RankJudgeTest, ARankThatWaitsIsSeenWaiting) {
  judge_.Heard(1, At(12, 7, 7));
  judge_.Closed(1);
  EXPECT_THAT(
      After({}, {}),
      ::testing::HasSubstr("last seen waiting for the other ranks: the gradients of step 12"));
}

TEST(RankJudge, BlamesNobodyWhoHasNotConnectedYet) {
  RankJudge judge({"a", "b"}, kTimeout);
  EXPECT_FALSE(judge.Look(10 * kTimeout));
}

}  // namespace
}  // namespace stoker
