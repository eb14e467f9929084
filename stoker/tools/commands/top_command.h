// `stoker top`: a live view of a run or of a process. Needs no torch.
#pragma once

#include <functional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct TopArguments {
  std::string target;  // a run directory or the number of a process; empty: the newest run
  bool json = false;
};

void AddTopCommand(Program& program, std::function<Status(const TopArguments&)> run);

}  // namespace stoker
