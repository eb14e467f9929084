// Detects the launcher that started this program, and its number of processes.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace stoker {

struct Launch {
  std::string launcher;  // "torchrun", "Slurm", "Open MPI", "MPI (PMI)"
  std::string found;     // the variables that show it: "WORLD_SIZE=4, RANK=1"
};

// Returns the value of an environment variable, or null.
using Variable = std::function<const char*(const char* name)>;

// Returns nothing if this is the only process: no launcher, or one that started one process. Within
// a Slurm step (srun) the step counts, so `srun --ntasks=1` of a larger job is one process.
std::optional<Launch> FindOtherProcesses(const Variable& variable);

// The same from the environment of this process.
std::optional<Launch> FindOtherProcesses();

// How often a launcher has started this command again after a failure, and how often it would.
// Both 0: there is none, or it never does.
struct Restarts {
  int done = 0, most = 0;
};
Restarts FindRestarts(const Variable& variable);
Restarts FindRestarts();

}  // namespace stoker
