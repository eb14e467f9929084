// `stoker launch`: its arguments. Needs no torch.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct LaunchArguments {
  int ranks = 0;
  int restarts = 0;
  bool share_cpus = false;
  std::string log_folder;                         // empty: the output
  std::optional<std::vector<std::string>> words;  // the command after `--`
};

void AddLaunchCommand(Program& program, std::function<Status(const LaunchArguments&)> run);

}  // namespace stoker
