// `stoker lint`: its arguments, which both executables share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct LintArguments {
  std::string recipe;
  std::vector<std::string> set;
  bool json = false;
};

void AddLintCommand(Program& program, std::function<Status(const LintArguments&)> run);

}  // namespace stoker
