#include "stoker/tools/chart/run_plot.h"

#include <cmath>
#include <limits>

#include "stoker/base/testing.h"
#include "stoker/run/smoothing.h"

namespace stoker::run_plot_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

MetricColumn Column(std::string kind, std::string name, std::vector<double> value) {
  MetricColumn column{.kind = std::move(kind), .name = std::move(name)};
  for (size_t i = 0; i < value.size(); ++i) {
    column.step.push_back(static_cast<double>(10 * i));
    column.epoch.push_back(static_cast<double>(i));
    column.seconds.push_back(static_cast<double>(600 * i));
  }
  column.value = std::move(value);
  return column;
}

std::vector<RunMetrics> Runs() {
  return {{"runs/one",
           {Column("train", "loss", {3, 2, 1}), Column("eval", "loss", {4, 3, 2}),
            Column("eval", "accuracy", {0.1, 0.6, 0.9})}},
          {"runs/two", {Column("train", "loss", {5, 4, 3}), Column("train", "lr", {1, 1, 1})}}};
}

TEST(RunPlot, ShowsLossAndAccuracyWhereNothingIsAskedFor) {
  STOKER_ASSERT_OK_AND_ASSIGN(const RunPlot plot, PlotRuns(Runs(), {}));
  ASSERT_EQ(plot.chart.panels.size(), 2u);
  EXPECT_THAT(plot.chart.panels[0].label, HasSubstr("loss"));
  ASSERT_EQ(plot.chart.panels[0].series.size(), 3u);
  EXPECT_TRUE(plot.chart.panels[0].series[1].marks);
  EXPECT_EQ(plot.chart.panels[0].series[2].color, 1u);
  EXPECT_EQ(plot.chart.legend[1].text, "two");
  EXPECT_THAT(plot.warnings, ElementsAre("runs/two: has no accuracy"));
}

TEST(RunPlot, PutsCurvesOverStepsEpochsOrTimeInAUnitThatReadsWell) {
  const auto x_of = [](PlotAxis by) {
    const Result<RunPlot> plot = PlotRuns(Runs(), {.metrics = {"lr"}, .by = by});
    return plot->chart.panels[0].series[0].x;
  };
  EXPECT_THAT(x_of(PlotAxis::kStep), ElementsAre(0, 10, 20));
  EXPECT_THAT(x_of(PlotAxis::kEpoch), ElementsAre(0, 1, 2));
  EXPECT_THAT(x_of(PlotAxis::kTime), ElementsAre(0, 10, 20));  // minutes
  STOKER_ASSERT_OK_AND_ASSIGN(const RunPlot plot,
                              PlotRuns(Runs(), {.metrics = {"lr"}, .by = PlotAxis::kTime}));
  EXPECT_EQ(plot.chart.x_label, "time in training (minutes)");
  EXPECT_EQ(plot.json["runs"][1]["curves"][0]["x"], Json({0, 600, 1200}));
}

TEST(RunPlot, TakesTheKindOfLineWithTheName) {
  STOKER_ASSERT_OK_AND_ASSIGN(const RunPlot plot, PlotRuns(Runs(), {.metrics = {"eval.loss"}}));
  ASSERT_EQ(plot.chart.panels[0].series.size(), 1u);
  EXPECT_THAT(plot.chart.panels[0].series[0].y, ElementsAre(4, 3, 2));
}

TEST(RunPlot, SmoothsWithoutBeingDrawnToZeroAndKeepsTheRawCurvePale) {
  STOKER_ASSERT_OK_AND_ASSIGN(const RunPlot plot,
                              PlotRuns(Runs(), {.metrics = {"train.loss"}, .smooth = 0.5}));
  const std::vector<ChartSeries>& series = plot.chart.panels[0].series;
  ASSERT_EQ(series.size(), 4u);
  EXPECT_TRUE(series[0].faint);
  EXPECT_THAT(series[0].y, ElementsAre(3, 2, 1));
  // 0.5 * 3 / 0.5; (0.25 * 3 + 0.5 * 2) / 0.75; (0.125 * 3 + 0.25 * 2 + 0.5 * 1) / 0.875
  EXPECT_THAT(series[1].y,
              ElementsAre(3, testing::DoubleEq(1.75 / 0.75), testing::DoubleEq(1.375 / 0.875)));
}

TEST(SmoothedValue, LeavesOutWhatIsNotFinite) {
  SmoothedValue mean(0.5);
  EXPECT_EQ(mean.Add(2), 2);
  EXPECT_TRUE(std::isnan(mean.Add(kNan)));
  EXPECT_EQ(mean.Add(2), 2);
}

TEST(RunPlot, ThinsLongCurvesButKeepsTheirPeaks) {
  std::vector<double> values(100'000, 1);
  values[51'234] = 9;
  values[77'777] = -9;
  const std::vector<RunMetrics> runs = {{"run", {Column("train", "loss", values)}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const RunPlot plot, PlotRuns(runs, {}));
  const ChartSeries& series = plot.chart.panels[0].series[0];
  EXPECT_EQ(series.x.size(), 2000u);
  EXPECT_THAT(series.y, testing::Contains(9));
  EXPECT_THAT(series.y, testing::Contains(-9));
  EXPECT_TRUE(std::ranges::is_sorted(series.x));
  EXPECT_EQ(plot.json["runs"][0]["curves"][0]["y"].size(), 100'000u);
}

TEST(RunPlot, SaysWhatThereIsInsteadOfAMetricThatNoRunHas) {
  EXPECT_THAT(PlotRuns(Runs(), {.metrics = {"acuracy"}}),
              FailsWith(StatusCode::kInvalidArgument, "did you mean 'accuracy'?"));
}

TEST(RunPlot, SaysWhichRunDoesNotKnowItsTime) {
  std::vector<RunMetrics> runs = Runs();
  runs[1].columns[0].seconds.assign(3, kNan);
  EXPECT_THAT(
      PlotRuns(runs, {.by = PlotAxis::kTime}),
      FailsWith(
          StatusCode::kInvalidArgument,
          "runs/two: its metrics do not say the time of loss; plot over the steps (--by step)"));
}

TEST(RunPlot, FindsWhereAFigureFirstGotToAValueOrBeyond) {
  const std::vector<RunMetrics> runs = Runs();
  const auto accuracy = FirstReaching(runs[0], "accuracy", 0.6);
  ASSERT_TRUE(accuracy);
  EXPECT_EQ(accuracy->step, 10);
  EXPECT_EQ(accuracy->seconds, 600);
  EXPECT_EQ(FirstReaching(runs[0], "accuracy", 0.05)->step, 0);
  EXPECT_EQ(FirstReaching(runs[1], "loss", 3.5)->step, 20);
  EXPECT_EQ(FirstReaching(runs[1], "loss", 7)->step, 0);
  EXPECT_FALSE(FirstReaching(runs[0], "accuracy", 0.95));
  EXPECT_FALSE(FirstReaching(runs[1], "accuracy", 0.1));
}

TEST(RunPlot, CallsRunsByTheLastPartOfTheirPathWhereThatTellsThemApart) {
  const std::vector<RunMetrics> apart = {{"a/x/", {}}, {"b/y", {}}};
  EXPECT_THAT(RunLabels(apart), ElementsAre("x", "y"));
  const std::vector<RunMetrics> alike = {{"a/x", {}}, {"b/x", {}}};
  EXPECT_THAT(RunLabels(alike), ElementsAre("a/x", "b/x"));
}

}  // namespace stoker::run_plot_test
