// `stoker plot`: compares curves of runs, from their metrics. Needs no torch.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/chart/chart_output.h"
#include "stoker/tools/chart/run_plot.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct PlotArguments {
  std::vector<std::string> runs;
  RunPlotOptions options;
  std::string reach;  // "accuracy=0.91", or empty
  ChartFiles chart;
  bool json = false;
};

void AddPlotCommand(Program& program);

Status RunPlotCommand(const PlotArguments& arguments);

}  // namespace stoker
