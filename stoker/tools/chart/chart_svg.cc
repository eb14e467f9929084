#include <fmt/format.h>

#include "stoker/base/printable.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/chart/chart_canvas.h"

namespace stoker {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Hex(ChartColor color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue);
}

class SvgCanvas final : public ChartCanvas {
 public:
  void Line(const std::vector<ChartPoint>& points, double width, ChartColor color) override {
    text_ += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" points=\"",
                         Hex(color), width);
    for (const ChartPoint& point : points) text_ += fmt::format("{:.2f},{:.2f} ", point.x, point.y);
    text_.back() = '"';
    text_ += "/>\n";
  }

  void Text(ChartPoint at, ChartAnchor anchor, std::string_view text, ChartColor color) override {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    text_ +=
        fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
                    at.x, at.y, kAnchors[static_cast<int>(anchor)], Hex(color), Escaped(text));
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string ChartToSvg(const Chart& chart) {
  SvgCanvas canvas;
  DrawChart(chart, canvas);
  const ChartSize size = SizeOf(chart);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"15\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      size.width, size.height, canvas.text());
}

}  // namespace stoker
