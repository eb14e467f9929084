// `stoker schedule`: its arguments, which both executables share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/chart/chart_output.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct ScheduleArguments {
  std::string recipe;
  std::vector<std::string> set;
  std::optional<int64_t> steps_per_epoch;
  std::optional<int64_t> batch;
  bool log = false;
  ChartFiles chart;
  bool json = false;
};

void AddScheduleCommand(Program& program, std::function<Status(const ScheduleArguments&)> run);

}  // namespace stoker
