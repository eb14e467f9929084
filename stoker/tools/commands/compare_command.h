// `stoker compare`: what differs between runs, and whether it is more than noise. Needs no torch.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string reach;  // "accuracy=0.91", or empty
  bool json = false;
};

void AddCompareCommand(Program& program);

Status RunCompare(const CompareArguments& arguments);

}  // namespace stoker
