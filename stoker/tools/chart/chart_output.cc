#include "stoker/tools/chart/chart_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "stoker/io/atomic_file.h"
#include "stoker/tools/program/terminal.h"

namespace stoker {

namespace {

bool IsSvg(const std::string& path) { return path.ends_with(".svg"); }

std::string CheckIsPicture(const std::string& path) {
  if (IsSvg(path) || path.ends_with(".png")) return {};
  return fmt::format("{}: a plot is written as .svg or .png; let the name end so", path);
}

}  // namespace

void AddChartOptions(CLI::App& app, ChartFiles& files) {
  app.add_option("--to", files.to, "write the plot into this .svg or .png; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(CLI::Validator(CheckIsPicture, ""));
}

Status WriteChart(const Chart& chart, const ChartFiles& files) {
  for (const std::string& path : files.to) {
    if (IsSvg(path)) {
      STOKER_RETURN_IF_ERROR(WriteFileAtomically(path, ChartToSvg(chart)));
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(const std::string png, ChartToPng(chart));
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(path, png));
  }
  return OkStatus();
}

std::string ChartForTerminal(const Chart& chart) {
  constexpr size_t kWidest = 120;
  return ChartToText(chart, std::min(TerminalWidth(STDOUT_FILENO), kWidest),
                     UseColor(STDOUT_FILENO));
}

}  // namespace stoker
