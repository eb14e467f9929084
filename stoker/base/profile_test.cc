#include "stoker/base/profile.h"

#include "stoker/base/clock.h"
#include "stoker/base/testing.h"

namespace stoker::profile_test {

Profile FixedProfile() {
  return {.host = "desk",
          .rank = 3,
          .wall_s = 2,
          .threads = 2,
          .consumer_waited_s = 0.125,
          .peak_memory_bytes = 12'500'000,
          .stages = {{.name = "idx", .elements = 60'000, .bytes = 47'040'000, .busy_s = 0.5},
                     {.name = "batch",
                      .elements = 468,
                      .bytes = 188'000'000,
                      .busy_s = 3,
                      .starved_s = 0.25,
                      .blocked_s = 0.004,
                      .errors = 2,
                      .mean_queue_depth = 1.5,
                      .queue_capacity = 4,
                      .peak_memory_bytes = 800'000}}};
}

TEST(SummedTime, NeverSinksAndComesToTheSum) {
  SummedTime time;
  int64_t sum = 0, last = 0;
  for (const int64_t ns : {10, -25, 5, 0, 20, -1, 1, 7}) {
    time.Add(ns);
    sum += ns;
    EXPECT_GE(time.ns(), last);
    last = time.ns();
  }
  EXPECT_EQ(last, sum);
}

TEST(Profile, PrintsAnAlignedTable) {
  // clang-format off
  EXPECT_EQ(FixedProfile().ToText(),
            "stage  elements  elements/s  MB/s          busy       starved       blocked  queue  errors\n"
            "idx       60000       30000  23.5  0.500 s  12%  0.000 s   0%  0.000 s   0%      -       0\n"
            "batch       468         234  94.0  3.000 s  75%  0.250 s   6%  0.004 s   0%  1.5/4       2\n"
            "2.000 s on 2 threads, the consumer waited 0.125 s, at most 12.5 MB held; % is of wall time x threads\n");
  // clang-format on
}

TEST(Profile, SaysWhatAStageDidAboutElementsThatFailed) {
  Profile profile = FixedProfile();
  profile.stages[0].skipped = 3;
  profile.stages[1].replaced = 4;
  EXPECT_THAT(profile.ToText(), testing::HasSubstr("  3 skipped\n"));
  EXPECT_THAT(profile.ToText(), testing::HasSubstr("  2, 4 replaced\n"));
}

TEST(Profile, AnEmptyOneDividesByNothing) {
  Profile empty;
  empty.stages.push_back({.name = "idx"});
  EXPECT_THAT(empty.ToText(), testing::HasSubstr("idx           0           0   0.0"));
  EXPECT_THAT(empty.ToText(), testing::Not(testing::HasSubstr("nan")));
}

TEST(Profile, JsonHoldsEveryFigure) {
  EXPECT_EQ(FixedProfile().ToJson(), Json::parse(R"({
    "schema": 1, "rank": 3, "host": "desk",
    "wall_s": 2.0, "threads": 2, "consumer_waited_s": 0.125, "peak_memory_bytes": 12500000,
    "stages": [
      {"name": "idx", "elements": 60000, "bytes": 47040000, "busy_s": 0.5, "starved_s": 0.0,
       "blocked_s": 0.0, "errors": 0, "skipped": 0, "replaced": 0, "mean_queue_depth": 0.0, "queue_capacity": 0,
       "peak_memory_bytes": 0},
      {"name": "batch", "elements": 468, "bytes": 188000000, "busy_s": 3.0, "starved_s": 0.25,
       "blocked_s": 0.004, "errors": 2, "skipped": 0, "replaced": 0, "mean_queue_depth": 1.5, "queue_capacity": 4,
       "peak_memory_bytes": 800000}]})"));
}

TEST(StageProfile, IsASnapshotOfWhatWasCounted) {
  StageStats stats("decode");
  stats.AddElements(3, 300);
  stats.AddElements(2, 200);
  stats.AddBusy(1'500'000'000);
  stats.AddStarved(250'000'000);
  stats.AddBlocked(125'000'000);
  stats.AddError();
  stats.AddSkipped(2);
  stats.AddReplaced(3);
  stats.SampleQueue(1, 8);
  stats.SampleQueue(4, 8);
  const StageProfile profile = StageProfile::Of(stats);
  EXPECT_EQ(profile.name, "decode");
  EXPECT_EQ(profile.elements, 5);
  EXPECT_EQ(profile.bytes, 500);
  EXPECT_DOUBLE_EQ(profile.busy_s, 1.5);
  EXPECT_DOUBLE_EQ(profile.starved_s, 0.25);
  EXPECT_DOUBLE_EQ(profile.blocked_s, 0.125);
  EXPECT_EQ(profile.errors, 1);
  EXPECT_EQ(profile.skipped, 2);
  EXPECT_EQ(profile.replaced, 3);
  EXPECT_DOUBLE_EQ(profile.mean_queue_depth, 2.5);
  EXPECT_EQ(profile.queue_capacity, 8);
  EXPECT_EQ(StageProfile::Of(StageStats("none")).mean_queue_depth, 0);
}

TEST(StageStats, WithoutCountsCountsNeitherElementsNorTimes) {
  StageStats stats("decode", /*counts=*/false);
  stats.AddElements(3, 300);
  stats.AddBusy(1'500'000'000);
  stats.AddStarved(250'000'000);
  stats.AddBlocked(125'000'000);
  const StageProfile profile = StageProfile::Of(stats);
  EXPECT_EQ(profile.elements + profile.bytes, 0);
  EXPECT_EQ(profile.busy_s + profile.starved_s + profile.blocked_s, 0);
}

TEST(Stopwatch, NeverRunsBackwards) {
  const Stopwatch watch;
  const int64_t first = watch.ElapsedNs();
  EXPECT_GE(first, 0);
  EXPECT_GE(watch.ElapsedNs(), first);
  EXPECT_GE(watch.ElapsedSeconds(), static_cast<double>(first) * 1e-9);
}

}  // namespace stoker::profile_test
