// `stoker scale`: its arguments. Needs no torch.
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

struct ScaleArguments {
  std::string recipe;
  std::vector<int64_t> ranks = {1, 2, 4};
  std::vector<int64_t> batches;  // of all ranks together; empty: the recipe's
  int64_t epochs = 1;
  std::optional<int64_t> steps;  // at most so many
  std::string reach;             // as of `stoker compare`; empty: the accuracy that all reached
  bool share_cpus = false;
  std::string keep;  // the directory for the runs; empty: a temporary one, removed
  std::vector<std::string> set;
  ChartFiles chart;
  bool json = false;
};

void AddScaleCommand(Program& program, std::function<Status(const ScaleArguments&)> run);

}  // namespace stoker
