// `stoker eval`: its arguments, which both executables share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct EvalArguments {
  std::string run;
  std::vector<std::string> set;
  bool json = false;
};

void AddEvalCommand(Program& program, std::function<Status(const EvalArguments&)> run);

}  // namespace stoker
