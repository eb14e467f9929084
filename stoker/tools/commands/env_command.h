// `stoker env`: the machine, its limits, and what it can do at best. Needs no torch.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct EnvArguments {
  std::vector<std::string> paths;  // whose storage is measured; none: the working directory
  bool quick = false;
  std::string to;  // keeps the figures; empty: where DefaultRoofsPath says
  bool json = false;
};

void AddEnvCommand(Program& program);

// kCancelled if a signal stopped it (interrupt.h), with nothing left behind.
Status RunEnv(const EnvArguments& arguments);

}  // namespace stoker
