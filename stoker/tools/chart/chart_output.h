// Writes the charts of commands to the files of --to, in addition to the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/chart/chart.h"

namespace stoker {

struct ChartFiles {
  std::vector<std::string> to;  // each ends in .svg or .png
};

// --to FILE, any number of times
void AddChartOptions(CLI::App& app, ChartFiles& files);

// Writes the requested files (io/atomic_file.h).
Status WriteChart(const Chart& chart, const ChartFiles& files);

// Returns the chart for standard output: as wide as the terminal, at most 120 columns.
std::string ChartForTerminal(const Chart& chart);

}  // namespace stoker
