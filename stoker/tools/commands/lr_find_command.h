// `stoker lr-find`: its arguments, which both executables share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/chart/chart_output.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct LrFindArguments {
  std::string recipe;
  std::vector<std::string> set;
  double low = 1e-7;
  double high = 10;
  int64_t steps = 100;
  bool linear = false;
  double smooth = 0.9;
  ChartFiles chart;
  bool json = false;
};

void AddLrFindCommand(Program& program, std::function<Status(const LrFindArguments&)> run);

}  // namespace stoker
