// `stoker doctor`: measures the parts of a recipe's run, says what holds it back and what to
// change; with --fix tries that.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

struct DoctorArguments {
  std::string recipe;
  std::vector<std::string> set;
  double seconds = 60;
  bool json = false;
  bool fix = false;
  bool allow_accuracy_changes = false;
  // Of the processes that --fix starts: measure the whole run only, and print its rate. The recipe
  // is a changed copy of one in this folder.
  std::string rate_in_folder;
};

void AddDoctorCommand(Program& program, std::function<Status(const DoctorArguments&)> run);

}  // namespace stoker
