// `stoker env`: the machine, its limits, and what it can do at best. Needs no torch.
#pragma once

#include <functional>
#include <optional>
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
  // Of a process that RunEnv starts to exchange tensors with others, for so long.
  std::optional<double> exchange_seconds;
};

//   exchange  prints AllReduceRoofs as JSON, at rank 0
void AddEnvCommand(Program& program, std::function<Status(const EnvArguments&)> exchange);

// kCancelled if a signal stopped it (interrupt.h), with nothing left behind.
Status RunEnv(const EnvArguments& arguments);

}  // namespace stoker
