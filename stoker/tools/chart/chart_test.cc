#include "stoker/tools/chart/chart.h"

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/tools/chart/chart_axis.h"
#include "stoker/tools/chart/chart_canvas.h"
#include "stoker/tools/chart/chart_font.h"

namespace stoker::chart_test {

Chart Rising() {
  return {.title = "a <rise> & more",
          .x_label = "step",
          .panels = {{.label = "rate", .series = {{"", {0, 5, 10}, {0, 0.5, 1}}}}}};
}

std::vector<std::string> TextsOf(const ChartAxis& axis) {
  std::vector<std::string> texts;
  for (const ChartTick& tick : axis.ticks()) texts.push_back(tick.text);
  return texts;
}

TEST(ChartAxis, BearsRoundNumbersFromEndToEnd) {
  const std::vector<double> values = {0.013, 0.087};
  const ChartAxis axis = ChartAxis::Over(values, false, true, 5);
  EXPECT_THAT(TextsOf(axis), testing::ElementsAre("0", "0.02", "0.04", "0.06", "0.08", "0.1"));
  EXPECT_NEAR(axis.Place(0.05), 0.5, 1e-12);
}

TEST(ChartAxis, OfPowersShowsThoseAndLeavesOutWhatIsNotAboveZero) {
  const std::vector<double> values = {0, -1, 1e-4, 0.1, NAN};
  const ChartAxis axis = ChartAxis::Over(values, true, true, 5);
  EXPECT_THAT(TextsOf(axis), testing::ElementsAre("1e-4", "1e-3", "1e-2", "1e-1"));
  EXPECT_FALSE(axis.Shows(0));
  EXPECT_NEAR(axis.Place(1e-4), 0, 1e-12);
}

TEST(ChartAxis, OfFewPowersWritesThemOut) {
  const std::vector<double> values = {0.4, 120};
  EXPECT_THAT(TextsOf(ChartAxis::Over(values, true, true, 5)),
              testing::ElementsAre("0.1", "1", "10", "100", "1000"));
}

TEST(ChartAxis, OfPowersHasTicksWhereNoWholePowerLiesBetweenItsEnds) {
  const std::vector<double> values = {2, 4};
  const ChartAxis axis = ChartAxis::Over(values, true, false, 5);
  EXPECT_THAT(TextsOf(axis), testing::ElementsAre("2", "2.5", "3", "3.5", "4"));
  EXPECT_NEAR(axis.ticks()[2].at, std::log2(1.5), 1e-9);
}

TEST(ChartAxis, HasLengthWhateverTheValues) {
  for (const std::vector<double>& values :
       {std::vector<double>{}, {3}, {0, 0}, {1e-300, 1e-300}, {-2, -2}, {1e300, -1e300}, {NAN}}) {
    const ChartAxis axis = ChartAxis::Over(values, false, true, 5);
    ASSERT_FALSE(axis.ticks().empty());
    for (const ChartTick& tick : axis.ticks()) EXPECT_TRUE(tick.at >= -1e-6 && tick.at <= 1 + 1e-6);
  }
}

TEST(Chart, AsSvgHasItsTextsEscapedAndItsLine) {
  const std::string svg = ChartToSvg(Rising());
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, testing::HasSubstr("a &lt;rise> &amp; more"));
  // From the lower left of the frame over its middle to the upper right.
  EXPECT_THAT(svg, testing::HasSubstr("points=\"110.00,310.00 525.00,190.00 940.00,70.00\""));
}

TEST(Chart, AsPngShowsTheSameLine) {
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string png, ChartToPng(Rising()));
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_GT(png.size(), 1000u);
}

TEST(Chart, ASeriesBreaksWhereAPointHasNoPlace) {
  Chart chart = Rising();
  chart.panels[0].series[0] = {"gap", {0, 1, 2, 3, 4}, {1, 2, NAN, 2, 1}};
  const std::string svg = ChartToSvg(chart);
  EXPECT_THAT(svg, testing::HasSubstr(">gap</text>"));
  size_t lines = 0;
  for (size_t at = 0; (at = svg.find("stroke-width=\"2\"", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 2u);
}

TEST(Chart, AsTextRisesFromTheLowerLeftToTheUpperRight) {
  const std::string text = ChartToText(Rising(), 60);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 14u);
  const std::string empty = "\u2800";
  EXPECT_THAT(lines[2], testing::StartsWith("         1 " + empty));
  EXPECT_THAT(lines[2], testing::Not(testing::EndsWith(empty)));
  EXPECT_THAT(lines[11], testing::StartsWith("         0 "));
  EXPECT_THAT(lines[11], testing::EndsWith(empty));
  EXPECT_THAT(lines[12], testing::HasSubstr("10"));
  EXPECT_THAT(lines[13], testing::HasSubstr("step"));
}

Chart TwoRuns() {
  Chart chart = Rising();
  chart.panels[0].series = {
      {"", {0, 5, 10}, {0, 0.5, 1}, /*color=*/0},
      {"", {0, 10}, {0.2, 0.2}, /*color=*/1, /*marks=*/true},
      {"", {0, 10}, {0.9, 0.9}, /*color=*/1, /*marks=*/false, /*faint=*/true}};
  chart.legend = {{"first", 0}, {"second", 1}};
  return chart;
}

TEST(Chart, HasALineOfLegendForEachColor) {
  const std::string svg = ChartToSvg(TwoRuns());
  EXPECT_THAT(svg, testing::HasSubstr(">first</text>"));
  EXPECT_THAT(svg, testing::HasSubstr(">second</text>"));
  EXPECT_EQ(SizeOf(TwoRuns()).height, SizeOf(Rising()).height + 2 * 22);
  // The second run's two marks, and its pale line.
  EXPECT_THAT(svg, testing::HasSubstr("stroke=\"#d55e00\" stroke-width=\"6\""));
  EXPECT_THAT(svg, testing::HasSubstr("stroke=\"#f5d7c0\""));
}

TEST(Chart, AsTextNamesLinesByLettersAndLeavesThePaleOut) {
  const std::string text = ChartToText(TwoRuns(), 60);
  EXPECT_THAT(text, testing::HasSubstr("a\n"));  // at the end of the first line
  EXPECT_THAT(text, testing::HasSubstr("B\n"));  // of the second, with marks
  EXPECT_THAT(text, testing::HasSubstr("          a  first\n          b  second\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\x1b[")));
  EXPECT_THAT(ChartToText(TwoRuns(), 60, /*color=*/true), testing::HasSubstr("\x1b[33mb\x1b[0m"));
}

TEST(Chart, AsTextKeepsTheLettersOfLinesThatEndAtOnePlaceApart) {
  Chart chart = TwoRuns();
  chart.panels[0].series[1] = {"", {0, 5, 10}, {0.1, 0.5, 1}, /*color=*/1};
  const std::string text = ChartToText(chart, 60);
  EXPECT_THAT(text, testing::HasSubstr("a\n"));
  EXPECT_THAT(text, testing::ContainsRegex("b.*\n.*\n.*\n.*\n"));  // further down the line
}

TEST(ChartFont, EveryGlyphHasSevenRowsOfFiveDots) {
  for (int c = 0; c < 256; ++c) {
    const std::string_view glyph = GlyphOf(static_cast<char>(c));
    ASSERT_EQ(glyph.size(), 41u);
    for (size_t i = 0; i < glyph.size(); ++i) {
      ASSERT_TRUE(i % 6 == 5 ? glyph[i] == ' ' : glyph[i] == '#' || glyph[i] == '.');
    }
  }
}

}  // namespace stoker::chart_test
