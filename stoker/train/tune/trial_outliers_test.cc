#include "stoker/train/tune/trial_outliers.h"

#include "stoker/base/testing.h"

namespace stoker::trial_outliers_test {

BatchTrial Trial(int64_t batch, double images_per_s, bool fits = true) {
  return {.batch = batch, .fits = fits, .images_per_s = images_per_s};
}

TEST(SlowOutliers, AreThoseThatNoNeighbourExplains) {
  const std::vector<BatchTrial> trials = {Trial(128, 9900), Trial(256, 10210), Trial(512, 2167),
                                          Trial(1024, 8423)};
  EXPECT_THAT(SlowOutliers(trials), testing::ElementsAre(2));
}

TEST(SlowOutliers, AreFoundBySizeAndNotByTheOrderOfTheTrials) {
  const std::vector<BatchTrial> trials = {Trial(1024, 8423), Trial(512, 2167), Trial(256, 10210)};
  EXPECT_THAT(SlowOutliers(trials), testing::ElementsAre(1));
}

TEST(SlowOutliers, TheLargestCountsWhereItFallsOff) {
  EXPECT_THAT(SlowOutliers(std::vector{Trial(2, 100), Trial(4, 200), Trial(8, 100)}),
              testing::ElementsAre(2));
}

TEST(SlowOutliers, ThroughputThatGrowsLevelsOutOrFallsForAllHasNone) {
  EXPECT_THAT(SlowOutliers(std::vector{Trial(2, 100), Trial(4, 200), Trial(8, 300)}),
              testing::IsEmpty());
  EXPECT_THAT(SlowOutliers(std::vector{Trial(2, 300), Trial(4, 200), Trial(8, 190)}),
              testing::IsEmpty());
}

TEST(SlowOutliers, WhatDoesNotFitHasNoThroughput) {
  EXPECT_THAT(SlowOutliers(std::vector{Trial(2, 100), Trial(4, 0, false), Trial(8, 101)}),
              testing::IsEmpty());
  EXPECT_THAT(SlowOutliers({}), testing::IsEmpty());
}

}  // namespace stoker::trial_outliers_test
