#include "stoker/tools/scale/scale_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/tools/scale/scale_run.h"

namespace stoker::scale_advice_test {

using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "data.train.padded_batch.size";

ScaleFigure Figure(int64_t batch, int64_t ranks, double rate, double wait, bool differs = true) {
  return {.batch = batch,
          .ranks = ranks,
          .samples_per_s = rate,
          .wait_for_ranks = wait,
          .gradient_bytes = 60'000,
          .differs = differs};
}

TEST(ScaleAdvice, MoreRanksThatGainAreNoFinding) {
  EXPECT_TRUE(FindLosses({Figure(128, 1, 100, 0), Figure(128, 2, 190, 0.05)}, 2, kKey).empty());
  EXPECT_TRUE(FindLosses({Figure(128, 4, 100, 0.5)}, 2, kKey).empty());
  EXPECT_TRUE(FindLosses({}, 2, kKey).empty());
}

TEST(ScaleAdvice, ALossWithinNoiseIsNone) {
  EXPECT_TRUE(
      FindLosses({Figure(128, 1, 100, 0), Figure(128, 2, 99, 0.1, false)}, 8, kKey).empty());
}

TEST(ScaleAdvice, TheFirstLossOfABatchIsNamedWithTheRowsOfARankAndItsWait) {
  const auto findings = FindLosses({Figure(128, 4, 80, 0.5), Figure(128, 1, 100, 0),
                                    Figure(128, 2, 120, 0.2), Figure(128, 8, 50, 0.8)},
                                   16, kKey);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].fewer, 2);
  EXPECT_EQ(findings[0].more, 4);
  const std::string text = findings[0].ToText("image");
  EXPECT_THAT(text, HasSubstr("At a batch of 128, 4 ranks are slower than 2 (80 and 120 images a "
                              "second): each has 32 rows of a step, and waits 50 % of it"));
  EXPECT_THAT(text, HasSubstr("data.train.padded_batch.size=512"));
  EXPECT_THAT(text, HasSubstr("train.accumulate=4"));
  EXPECT_THAT(text, Not(HasSubstr("no key cures")));
  EXPECT_THAT(text, Not(HasSubstr("gradient_type"))) << "60 kB travel in no time";
}

// Of four steps' worth of rows the wait is paid once: 4 / (4 x 0.5 + 0.5) = 1.6.
TEST(ScaleAdvice, APredictedGainPaysTheWaitOnce) {
  const auto findings = FindLosses({Figure(128, 1, 100, 0), Figure(128, 2, 80, 0.5)}, 2, kKey);
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_FALSE(findings[0].cures.empty());
  for (const ScaleCure& cure : findings[0].cures) {
    if (cure.change == "train.accumulate=4") {
      EXPECT_DOUBLE_EQ(cure.gain, 1.6);
    }
    EXPECT_FALSE(cure.measured);
  }
}

TEST(ScaleAdvice, ALargerBatchThatWasMeasuredComesFirst) {
  const auto findings = FindLosses({Figure(128, 1, 100, 0), Figure(128, 2, 80, 0.5),
                                    Figure(512, 1, 110, 0), Figure(512, 2, 200, 0.1)},
                                   2, kKey);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cures[0].change, "data.train.padded_batch.size=512");
  EXPECT_TRUE(findings[0].cures[0].measured);
  EXPECT_DOUBLE_EQ(findings[0].cures[0].gain, 2.5);
  EXPECT_THAT(findings[0].ToText("image"), HasSubstr("measured 2.5 times as fast"));
}

TEST(ScaleAdvice, RanksThatShareCpusAreSaidToWantMachines) {
  const auto findings = FindLosses({Figure(128, 2, 100, 0.1), Figure(128, 4, 80, 0.02)}, 2, kKey);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].lacks_cpus);
  EXPECT_TRUE(findings[0].cures.empty()) << "hardly anything is lost by waiting";
  EXPECT_THAT(findings[0].ToText("image"), HasSubstr("no key cures"));
}

TEST(ScaleRun, TheShareOfASpanIsThatOfTheTimeInSteps) {
  const std::string folded =
      "main;step 10\n"
      "main;step;backward 50\n"
      "main;step;optimizer;wait for other ranks 15\n"
      "main;step;wait for other ranks;inside 5\n"
      "main;step;do not wait for other ranks 20\n"
      "main;steps;wait for other ranks 1000\n"
      "main;start of the run;wait for other ranks 1000\n"
      "no number\n";
  EXPECT_DOUBLE_EQ(ShareOfSteps(folded, "wait for other ranks"), 0.2);
  EXPECT_EQ(ShareOfSteps("", "wait for other ranks"), 0);
  EXPECT_EQ(ShareOfSteps("main;evaluation 3", "wait for other ranks"), 0);
}

}  // namespace stoker::scale_advice_test
