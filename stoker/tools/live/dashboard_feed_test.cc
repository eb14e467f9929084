#include "stoker/tools/live/dashboard_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stoker/base/json_text.h"

namespace stoker::dashboard_feed_test {
namespace {

LiveFacts FactsAt(double seconds) {
  LiveFacts facts{.command = "train", .phase = "training"};
  facts.train = TrainFacts{.step = static_cast<int64_t>(10 * seconds),
                           .total_steps = 100,
                           .steps_per_epoch = 20,
                           .samples = static_cast<int64_t>(320 * seconds),
                           .step_seconds = 0.8 * seconds,
                           .waited_seconds = 0.2 * seconds,
                           .loss = 1 / seconds};
  facts.pipeline.wall_s = seconds;
  facts.pipeline.stages = {{.name = "decode",
                            .elements = static_cast<int64_t>(320 * seconds),
                            .busy_s = 1.5 * seconds,
                            .starved_s = 0.25 * seconds}};
  return facts;
}

MachineUsage MachineAt(int64_t seconds) {
  MachineUsage machine;
  machine.counters.cpus = {{.id = 0, .busy = 10 * seconds}, {.id = 1, .idle = 10 * seconds}};
  machine.counters.memory = {.total_bytes = 1000, .available_bytes = 400};
  machine.counters.disks = {{.name = "a", .read_bytes = 100 * seconds},
                            {.name = "b", .read_bytes = 50 * seconds}};
  return machine;
}

TEST(DashboardFeed, ATickHasTheRatesSinceTheOneBefore) {
  DashboardFeed feed(Json{{"command", "train"}});
  feed.Tick(2, FactsAt(2), {}, MachineAt(2));
  const Json tick =
      feed.Tick(4, FactsAt(4), {.losses = {{.step = 30, .loss = 0.5, .lr = 0.1}}}, MachineAt(4));
  EXPECT_DOUBLE_EQ(tick["rate"].get<double>(), 320);
  EXPECT_DOUBLE_EQ(tick["waited"].get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(tick["cpu"].get<double>(), 0.5);
  EXPECT_EQ(tick["cpus"], Json::array({1.0, 0.0}));
  EXPECT_DOUBLE_EQ(tick["read"].get<double>(), 150);
  EXPECT_EQ(tick["memory"], 600);
  EXPECT_EQ(tick["stages"][0]["name"], "decode");
  EXPECT_DOUBLE_EQ(tick["stages"][0]["busy"].get<double>(), 1.5);
  EXPECT_EQ(tick["epoch"], 2);
  EXPECT_EQ(tick["epochs"], 5);
  EXPECT_NEAR(tick["left"].get<double>(), 0.08 * 60, 1e-9);
  EXPECT_EQ(tick["losses"], Json::array({Json::array({30.0, 0.5, 0.1})}));
}

TEST(DashboardFeed, APageThatBeginsLaterGetsThePast) {
  DashboardFeed feed(Json{{"command", "train"}});
  for (int i = 1; i <= 5000; ++i) {
    feed.Tick(i, FactsAt(i),
              {.losses = {{.step = 10.0 * i, .loss = 1.0 / i}},
               .evaluations = {{.step = 10.0 * i, .loss = 2, .accuracy = std::nullopt}}},
              MachineAt(i));
  }
  const Json whole = feed.Whole();
  EXPECT_EQ(whole["about"]["command"], "train");
  EXPECT_LE(whole["ticks"].size(), 900u);
  EXPECT_GT(whole["ticks"].size(), 300u);
  EXPECT_EQ(whole["ticks"][5].size(), whole["columns"].size() + 3);
  EXPECT_EQ(whole["stages"], Json::array({"decode"}));
  EXPECT_GT(whole["losses"].size(), 300u);
  EXPECT_TRUE(whole["evaluations"][0][2].is_null()) << "there is no accuracy";
  EXPECT_EQ(whole["last"]["t"], 5000);
  EXPECT_LT(DumpJson(whole).size(), 400000u);
}

TEST(DashboardFeed, WhatBeginsAnewHasNoRate) {
  DashboardFeed feed(Json::object());
  feed.Tick(1, FactsAt(5), {}, MachineAt(1));
  LiveFacts other = FactsAt(1);
  other.pipeline.stages[0].name = "cast";
  const Json tick = feed.Tick(2, other, {}, MachineAt(2));
  EXPECT_TRUE(tick["rate"].is_null());
  EXPECT_EQ(tick["stages"][0]["name"], "cast");
  EXPECT_EQ(feed.Whole()["stages"], Json::array({"cast"}));
}

TEST(DashboardFeed, WhatIsNoNumberIsNull) {
  DashboardFeed feed(Json::object());
  LiveFacts facts = FactsAt(1);
  facts.train->loss = NAN;
  const Json tick = feed.Tick(1, facts, {.losses = {{.step = 1, .loss = INFINITY}}}, {});
  EXPECT_TRUE(tick["loss"].is_null());
  EXPECT_TRUE(tick["losses"][0][1].is_null());
  EXPECT_FALSE(tick.contains("cpu"));
}

}  // namespace
}  // namespace stoker::dashboard_feed_test
