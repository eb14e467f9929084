// Which launcher has started this program, and as how many processes.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace stoker {

struct Launch {
  std::string launcher;  // "torchrun", "Slurm", "Open MPI", "MPI (PMI)"
  std::string found;     // the variables that say so: "WORLD_SIZE=4, RANK=1"
};

// Gives the value of an environment variable, or null.
using Variable = std::function<const char*(const char* name)>;

// Nothing where this is the only process: no launcher, or one that has started one. Of Slurm the
// step counts where this runs in one (srun), so `srun --ntasks=1` of a larger job is one process.
std::optional<Launch> FindOtherProcesses(const Variable& variable);

// The same from the environment of this process.
std::optional<Launch> FindOtherProcesses();

}  // namespace stoker
