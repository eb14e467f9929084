#include "stoker/tools/chart_output.h"

#include <unistd.h>

#include <algorithm>

#include "stoker/io/atomic_file.h"
#include "stoker/tools/terminal.h"

namespace stoker {

void AddChartOptions(CLI::App& app, ChartFiles& files) {
  app.add_option("--svg", files.svg, "write the plot into this SVG")->type_name("FILE");
  app.add_option("--png", files.png, "write the plot into this PNG")->type_name("FILE");
}

Status WriteChart(const Chart& chart, const ChartFiles& files) {
  if (!files.svg.empty()) {
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(files.svg, ChartToSvg(chart)));
  }
  if (files.png.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::string png, ChartToPng(chart));
  return WriteFileAtomically(files.png, png);
}

std::string ChartForTerminal(const Chart& chart) {
  constexpr size_t kWidest = 120;
  return ChartToText(chart, std::min(TerminalWidth(STDOUT_FILENO), kWidest),
                     UseColor(STDOUT_FILENO));
}

}  // namespace stoker
