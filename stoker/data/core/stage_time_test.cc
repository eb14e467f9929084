#include "stoker/data/core/stage_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "stoker/base/clock.h"

namespace stoker::stage_time_test {
namespace {

using Kind = ScopedStageTime::Kind;

constexpr double kNs = 1e-9;
constexpr double kRounding = 1e-9;

void Spin(int64_t ns) {
  const Stopwatch watch;
  while (watch.ElapsedNs() < ns) {
  }
}

// One element of a stage whose work is brief.
void MakeBriefly(StageStats& stats) {
  const ScopedStageTime time(stats);
  Spin(300);
  stats.AddElements(1, 0);
}

void MakeBrief(StageStats& stats) {
  while (!stats.brief()) MakeBriefly(stats);
}

TEST(ScopedStageTime, OfAFewElementsIsExact) {
  StageStats stats("few");
  int64_t least_ns = 0;
  const Stopwatch around;
  for (int i = 0; i < 100; ++i) {
    const ScopedStageTime time(stats);
    const Stopwatch inside;
    Spin(300);
    stats.AddElements(1, 0);
    least_ns += inside.ElapsedNs();
  }
  const double busy = StageProfile::Of(stats).busy_s;
  EXPECT_GE(busy, static_cast<double>(least_ns) * kNs - kRounding);
  EXPECT_LE(busy, around.ElapsedSeconds() + kRounding);
}

TEST(ScopedStageTime, IsSampledOnlyWhereWorkIsBrief) {
  StageStats brief("brief"), slow("slow");
  MakeBrief(brief);
  EXPECT_GE(brief.elements(), ScopedStageTime::kTimedFirst);
  for (int64_t i = 0; i < ScopedStageTime::kTimedFirst + 1; ++i) {
    const ScopedStageTime time(slow);
    Spin(ScopedStageTime::kBriefNs);
    slow.AddElements(1, 0);
  }
  EXPECT_FALSE(slow.brief());
}

TEST(ScopedStageTime, OfAStageThatBecomesSlowIsTimedAgain) {
  StageStats stats("changes");
  MakeBrief(stats);
  while (stats.brief()) {
    const ScopedStageTime time(stats);
    Spin(ScopedStageTime::kBriefNs);
  }
  const double before = StageProfile::Of(stats).busy_s;
  {
    const ScopedStageTime time(stats);
    Spin(ScopedStageTime::kBriefNs);
  }
  EXPECT_GE(StageProfile::Of(stats).busy_s - before, ScopedStageTime::kBriefNs * kNs - kRounding);
}

// What the samples of the inner stage come to is taken from the outer one, whatever chance gives.
TEST(ScopedStageTime, OfTwoStagesThatAreSampledComesToTheTimeOfTheThread) {
  StageStats inner("inner"), outer("outer"), around("around");
  MakeBrief(inner);
  const double before = StageProfile::Of(inner).busy_s;
  const Stopwatch watch;
  int64_t least_ns = 0;
  {
    const ScopedStageTime time(around, Kind::kStarved);
    const Stopwatch inside;
    for (int i = 0; i < 20'000; ++i) {
      const ScopedStageTime outer_time(outer);
      MakeBriefly(inner);
      outer.AddElements(1, 0);
    }
    least_ns = inside.ElapsedNs();
  }
  const double busy = StageProfile::Of(inner).busy_s - before + StageProfile::Of(outer).busy_s;
  const double starved = StageProfile::Of(around).starved_s;
  if (starved > 0) {  // else the samples came to more than all there was
    EXPECT_GE(busy + starved, static_cast<double>(least_ns) * kNs - kRounding);
    EXPECT_LE(busy + starved, watch.ElapsedSeconds() + kRounding);
  }
  EXPECT_GT(busy, 0);
}

TEST(ScopedStageTime, OfAWaitInBriefWorkCountsEachOnce) {
  StageStats stats("works"), waits("waits");
  MakeBrief(stats);
  int64_t least_ns = 0, most_ns = 0;
  for (int i = 0; i < 2'000; ++i) {
    const ScopedStageTime time(stats);
    stats.AddElements(1, 0);
    if (i % 50 != 0) continue;
    const Stopwatch around;
    {
      const ScopedStageTime wait(waits, Kind::kBlocked);
      const Stopwatch inside;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      least_ns += inside.ElapsedNs();
    }
    most_ns += around.ElapsedNs();
  }
  const double blocked = StageProfile::Of(waits).blocked_s;
  EXPECT_GE(blocked, static_cast<double>(least_ns) * kNs - kRounding);
  EXPECT_LE(blocked, static_cast<double>(most_ns) * kNs + kRounding);
}

TEST(ScopedStageTime, OfAStageThatDoesNotCountIsZero) {
  StageStats stats("uncounted", /*counts=*/false);
  for (int i = 0; i < 10; ++i) MakeBriefly(stats);
  EXPECT_EQ(StageProfile::Of(stats).busy_s, 0);
  EXPECT_EQ(stats.elements(), 0);
}

}  // namespace
}  // namespace stoker::stage_time_test
