// `stoker predict`: its arguments, which both executables share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program.h"

namespace stoker {

struct PredictArguments {
  std::string run;
  std::vector<std::string> files;
  int64_t top = 3;
  int64_t limit = 10;  // samples of each file; 0: all
  bool json = false;
};

void AddPredictCommand(Program& program, std::function<Status(const PredictArguments&)> run);

}  // namespace stoker
