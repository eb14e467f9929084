#include "stoker/tools/top/top_rates.h"

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/tools/top/top_testing_internal.h"

namespace stoker::top_rates_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MachineRatesOf, AreThoseBetweenTheLastTwoLooks) {
  const MachineRates rates = MachineRatesOf(MadeUpRun());
  ASSERT_EQ(rates.cpus.size(), 2u);
  EXPECT_DOUBLE_EQ(rates.cpus[0].busy, 1);
  EXPECT_DOUBLE_EQ(rates.cpus[1].busy, 0.5);
  EXPECT_DOUBLE_EQ(rates.cpu_busy(), 0.75);
  ASSERT_EQ(rates.disks.size(), 1u);
  EXPECT_DOUBLE_EQ(rates.disks[0].busy, 0.23);
  EXPECT_DOUBLE_EQ(rates.disks[0].read_bytes_per_s, 1e7);
  ASSERT_EQ(rates.networks.size(), 1u);
  EXPECT_DOUBLE_EQ(rates.networks[0].received_bytes_per_s, 1e6);
}

TEST(MachineRatesOf, AfterOneLookThereAreNone) {
  EXPECT_THAT(MachineRatesOf(MadeUpRun(5, 5)).cpus, IsEmpty());
  EXPECT_EQ(MachineRatesOf(MadeUpRun(5, 5)).cpu_busy(), 0);
}

TEST(MachineRatesOf, WhatIsInOneLookOnlyIsLeftOutAndWhatGoesBackIsStill) {
  TopHistory history = MadeUpRun(0, 1);
  history.samples[1].machine.cpus[0] = {.id = 7, .busy = 5, .idle = 5};
  history.samples[0].machine.disks[0].read_bytes = int64_t{1} << 60;
  history.samples[1].machine.networks[0].name = "eth1";
  const MachineRates rates = MachineRatesOf(history);
  ASSERT_EQ(rates.cpus.size(), 1u);
  EXPECT_EQ(rates.cpus[0].id, 1);
  EXPECT_EQ(rates.disks[0].read_bytes_per_s, 0);
  EXPECT_THAT(rates.networks, IsEmpty());
  history.samples[1].at_s = history.samples[0].at_s;
  EXPECT_THAT(MachineRatesOf(history).cpus, IsEmpty());
}

TEST(RunWindowOf, IsOfTheLastTenSeconds) {
  TopHistory history = MadeUpRun();
  history.samples[0].progress->input->stages[2].busy_s = 1e6;  // older than the window
  const auto window = RunWindowOf(history);
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->seconds, 10);
  EXPECT_EQ(window->work.steps, 100);
  EXPECT_NEAR(window->work.waited_s, 6, 1e-9);
  ASSERT_EQ(window->rates.size(), 5u);
  EXPECT_EQ(window->rates[2].name, "decode");
  EXPECT_NEAR(window->rates[2].busy, 1.9, 1e-9);
  EXPECT_NEAR(window->rates[4].starved, 0.4, 1e-9);
  EXPECT_NEAR(window->rates[4].blocked, 0.1, 1e-9);
  EXPECT_NEAR(window->rates[0].elements_per_s, 320, 1e-9);
  const TimeShares shares = TimeSharesOf(*window);
  EXPECT_NEAR(shares.compute, 0.3, 1e-9);
  EXPECT_NEAR(shares.wait, 0.6, 1e-9);
  EXPECT_NEAR(shares.evaluation, 0.05, 1e-9);
  EXPECT_NEAR(shares.logging, 0.02, 1e-9);
  EXPECT_NEAR(shares.other, 0.03, 1e-9);
}

TEST(RunWindowOf, AfterOneLookIsOfTheWholeProcess) {
  const auto window = RunWindowOf(MadeUpRun(20, 20));
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->seconds, 20);
  EXPECT_NEAR(window->rates[2].busy, 1.9, 1e-9);
}

TEST(RunWindowOf, ANewProcessOfTheRunIsNotComparedWithTheOld) {
  TopHistory history = MadeUpRun(0, 3);
  for (size_t i = 2; i < 4; ++i) {
    history.samples[i].progress = MadeUpProgress(static_cast<int64_t>(i) - 1);
    history.samples[i].progress->pid = 4800;
  }
  const auto window = RunWindowOf(history);
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->seconds, 1);  // from the first publication that was seen of it
}

TEST(RunWindowOf, APipelineThatWasOpenedAgainCountsFromItsBegin) {
  TopHistory history = MadeUpRun(0, 3);
  history.samples[3].progress->input->stages[2].elements = 5;
  history.samples[3].progress->input->stages[2].busy_s = 0.25;
  const auto window = RunWindowOf(history);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->stages[2].elements, 5);
  EXPECT_EQ(window->stages[2].busy_s, 0.25);
}

TEST(RunWindowOf, BeforeTheFirstStepThereIsNone) {
  TopHistory history = MadeUpRun(0, 2);
  history.samples.back().progress->input.reset();
  EXPECT_FALSE(RunWindowOf(history));
  history.samples.back().progress.reset();
  EXPECT_FALSE(RunWindowOf(history));
}

TEST(RunWindowOf, FiguresThatMakeNoSenseCountAsNone) {
  TopHistory history = MadeUpRun(20, 20);
  PublishedProgress& progress = *history.samples[0].progress;
  progress.work = {.seconds = 10, .steps = -5, .step_s = NAN, .waited_s = 1e300, .cpu_s = -3};
  progress.input->stages[0].busy_s = -1;
  const auto window = RunWindowOf(history);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->stages[0].busy_s, 0);
  const TimeShares shares = TimeSharesOf(*window);
  for (const double share : {shares.compute, shares.wait, shares.evaluation, shares.other})
    EXPECT_TRUE(share >= 0 && share <= 1) << share;
  progress.work.seconds = INFINITY;
  EXPECT_FALSE(RunWindowOf(history));
}

TEST(ThroughputOf, LeavesOutWhatWasSeenBeforeTheFirstStep) {
  TopHistory history = MadeUpRun(0, 3);
  history.samples[0].progress.reset();
  EXPECT_THAT(ThroughputOf(history, 10), ElementsAre(310, 320, 330));
  EXPECT_THAT(ThroughputOf(history, 2), ElementsAre(320, 330));
}

TEST(ClockDrift, IsFromTheHighestClock) {
  EXPECT_DOUBLE_EQ(ClockDrift(MadeUpGpu()).value_or(0), -0.25);
  EXPECT_FALSE(ClockDrift({.clock_mhz = 1000}));
  EXPECT_FALSE(ClockDrift({.clock_mhz = 1000, .most_clock_mhz = 0}));
}

}  // namespace stoker::top_rates_test
