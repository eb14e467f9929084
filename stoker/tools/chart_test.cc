#include "stoker/tools/chart.h"

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/tools/chart_axis.h"
#include "stoker/tools/chart_font.h"

namespace stoker {
namespace {

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

TEST(ChartFont, EveryGlyphHasSevenRowsOfFiveDots) {
  for (int c = 0; c < 256; ++c) {
    const std::string_view glyph = GlyphOf(static_cast<char>(c));
    ASSERT_EQ(glyph.size(), 41u);
    for (size_t i = 0; i < glyph.size(); ++i) {
      ASSERT_TRUE(i % 6 == 5 ? glyph[i] == ' ' : glyph[i] == '#' || glyph[i] == '.');
    }
  }
}

}  // namespace
}  // namespace stoker
