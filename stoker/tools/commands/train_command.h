// `stoker train`: its arguments, which both executables share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/live/serve_options.h"
#include "stoker/tools/program/program.h"
#include "stoker/trace/trace_session.h"

namespace stoker {

struct TrainArguments {
  std::string recipe;  // may be empty with `resume` and `run`, which use the stored one
  std::vector<std::string> set;
  // The run's directory; empty: a new one below runs/, or with `resume` the newest there.
  std::string run;
  bool resume = false;
  bool allow_changes = false;
  std::string check_data = "places";  // or "full" (data/recipe/file_marks.h)
  bool independent = false;           // train alone, although a launcher has started several
  bool requeue = false;               // after SIGUSR1, put the job of Slurm back into its queue
  bool print_recipe = false;
  bool json = false;
  bool quiet = false;
  ServeOptions serve;
  TraceOutputs trace;
};

void AddTrainCommand(Program& program, std::function<Status(const TrainArguments&)> run);

}  // namespace stoker
