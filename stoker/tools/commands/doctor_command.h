// `stoker doctor`: measures the parts of a recipe's run, says what holds it back and what to
// change; with --fix tries that. Or watches a program that is not ours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/live/serve_options.h"
#include "stoker/tools/program/program.h"
#include "stoker/trace/trace_session.h"

namespace stoker {

struct DoctorArguments {
  // One of these three.
  std::string recipe;                               // empty: none
  std::optional<std::vector<std::string>> program;  // the words after `--`
  std::optional<int64_t> pid;
  std::vector<std::string> set;
  double seconds = 60;
  bool json = false;
  bool no_gpu_counters = false;  // loads nothing into the program
  bool fix = false;
  bool allow_accuracy_changes = false;
  TraceOutputs trace;  // of the recipe's measurements
  // Of the processes that --fix starts: measure the whole run only, and print its rate. The recipe
  // is a changed copy of one in this folder.
  std::string rate_in_folder;
  ServeOptions serve;
};

//   run      measures a recipe
//   watch    watches a program or a process
void AddDoctorCommand(Program& program, std::function<Status(const DoctorArguments&)> run,
                      std::function<Status(const DoctorArguments&)> watch);

}  // namespace stoker
