// `stoker batch-find`: its arguments, which both executables share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/chart/chart_output.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct BatchFindArguments {
  std::string recipe;
  std::vector<std::string> set;
  int64_t memory_bytes =
      0;  // 0: four fifths of the container's limit; on a device all of its memory
  int64_t most = 8192;
  double seconds = 0.5;
  ChartFiles chart;
  bool json = false;
};

void AddBatchFindCommand(Program& program, std::function<Status(const BatchFindArguments&)> run);

}  // namespace stoker
