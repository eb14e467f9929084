#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/printable.h"
#include "stoker/base/short_text.h"
#include "stoker/tools/features/features_text.h"
#include "stoker/tools/program/html_text.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// In units of the document.
constexpr int kAcross = 3;
constexpr int kWidth = 320, kHeight = 190;          // of a column's panel
constexpr int kPlotWidth = 280, kPlotHeight = 100;  // of what is drawn in it

std::string Escaped(std::string_view text) { return EscapedHtml(Printable(text)); }

void AddText(std::string& svg, double x, double y, std::string_view more, std::string_view text) {
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, Escaped(text));
}

void AddBar(std::string& svg, double x, double y, double width, double height,
            std::string_view about) {
  svg += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#2a6fb0\">"
      "<title>{}</title></rect>\n",
      x, y, width, height, Escaped(about));
}

void AddHistogram(std::string& svg, const ColumnProfile& column) {
  const double most = static_cast<double>(std::max<int64_t>(1, std::ranges::max(column.histogram)));
  const double parts = static_cast<double>(column.histogram.size());
  const double width = static_cast<double>(kPlotWidth) / parts;
  const double part = column.greatest / parts - column.least / parts;  // the range may be infinite
  for (size_t i = 0; i < column.histogram.size(); ++i) {
    const double height = static_cast<double>(column.histogram[i]) / most * kPlotHeight;
    const double from = column.least + part * static_cast<double>(i);
    AddBar(svg, static_cast<double>(i) * width, kPlotHeight - height, width - 1, height,
           fmt::format("{:.6g} to {:.6g}: {}", from, from + part,
                       WithThousands(static_cast<double>(column.histogram[i]))));
  }
  AddText(svg, 0, kPlotHeight + 16, "", fmt::format("{:.6g}", column.least));
  AddText(svg, kPlotWidth, kPlotHeight + 16, " text-anchor=\"end\"",
          fmt::format("{:.6g}", column.greatest));
}

void AddCommon(std::string& svg, const ColumnProfile& column) {
  constexpr size_t kShown = 7;
  constexpr double kStep = 16, kNames = 110;
  const size_t shown = std::min(column.common.size(), kShown);
  for (size_t i = 0; i < shown; ++i) {
    const ValueCount& value = column.common[i];
    const double share =
        static_cast<double>(value.count) / static_cast<double>(column.common.front().count);
    const double y = static_cast<double>(i) * kStep;
    AddText(svg, kNames - 6, y + 12, " text-anchor=\"end\"", ShortText(value.value, 14));
    AddBar(svg, kNames, y, share * (kPlotWidth - kNames), kStep - 3,
           fmt::format("{}: {}", value.value, WithThousands(static_cast<double>(value.count))));
  }
  if (shown == 0) AddText(svg, 0, 12, " fill=\"#777777\"", "too many different texts to draw");
}

std::string PanelOf(const TableProfile& table, const std::vector<ColumnChoice>& choices, size_t i) {
  const ColumnProfile& column = table.columns[i];
  std::string svg = fmt::format("<g transform=\"translate({},{})\">\n",
                                20 + static_cast<int>(i) % kAcross * kWidth,
                                30 + static_cast<int>(i) / kAcross * kHeight);
  AddText(svg, 0, 0, " font-weight=\"bold\"", ShortText(column.name, 30));
  std::string facts =
      fmt::format("{}, {} different", NameOf(choices[i].use), column.DifferentText());
  if (column.missing > 0) {
    facts += fmt::format(", {:.1f} % missing", 100 * static_cast<double>(column.missing) /
                                                   static_cast<double>(column.rows));
  }
  if (table.target && i != *table.target)
    facts += fmt::format(", tells {:.2f}", table.relations[i].explained);
  AddText(svg, 0, 17, " fill=\"#777777\"", facts);
  svg += "<g transform=\"translate(0,26)\">\n";
  if (column.kind == ColumnKind::kNumbers) AddHistogram(svg, column);
  if (column.kind == ColumnKind::kTexts) AddCommon(svg, column);
  return svg + "</g>\n</g>\n";
}

}  // namespace

std::string FeaturesSvg(const TableProfile& table, const std::vector<ColumnChoice>& choices) {
  std::string panels;
  for (size_t i = 0; i < table.columns.size(); ++i) panels += PanelOf(table, choices, i);
  const int count = static_cast<int>(table.columns.size());
  const int width = 20 + kAcross * kWidth, height = 20 + (count + kAcross - 1) / kAcross * kHeight;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      width, height, panels);
}

}  // namespace stoker
