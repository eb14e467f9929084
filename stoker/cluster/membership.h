// Which of how many processes that train together this one is, as a launcher's environment says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

struct Membership {
  int64_t rank = 0, world = 1;
  int64_t local_rank = 0, local_world = 1;  // among those on this machine
  std::string launcher;                     // "torchrun", "Slurm", ...; empty: there is none

  // Where the processes find each other. Unset for one alone.
  std::string host;
  int64_t port = 0;
  // Of rank 0 under `stoker launch`: the descriptor of a socket that listens there already; -1:
  // none.
  int listener = -1;
  // torchrun's agent keeps the store, so rank 0 must not; then keys of an earlier start are still
  // there, and `restart` tells them apart.
  bool agent_has_store = false;
  int64_t restart = 0;  // how often the launcher has started all of them again

  bool alone() const { return world == 1; }
};

// Returns the value of an environment variable, or null.
using EnvironmentVariable = std::function<const char*(const char* name)>;

// Looks, in this order, at what torchrun (and `stoker launch`), Open MPI, MPICH and Slurm (srun)
// set. A launcher that says 1 process says nothing, so a shell inside a job's allocation is one
// process. MPICH's variables beside those of a step of Slurm with as many tasks (as with
// `srun --mpi=pmi2`) are the step's. A pod of an indexed Kubernetes job has its rank as
// JOB_COMPLETION_INDEX, and WORLD_SIZE where its manifest sets it; without WORLD_SIZE the pods
// train by themselves.
//
// A launcher or its user may set MASTER_ADDR and MASTER_PORT. Where they are not set, a place
// is derived that all processes of the launcher derive alike: of Slurm the first host of the step,
// of MPI the loopback if all processes are on one machine, with a port that follows from the job's
// name, or for MPICH from the ancestor in /proc that has started them. Errors: kInvalidArgument: a
// variable that is no number or out of range, one of two that is missing, a place that cannot be
// derived; names the variable and what to set.
Result<Membership> FindMembership(const EnvironmentVariable& variable);

// The same from the environment of this process.
Result<Membership> FindMembership();

// The first host of a list as Slurm writes it: "node[07-09,12],gpu3" gives "node07". Errors:
// kInvalidArgument.
Result<std::string> FirstHost(const std::string& hosts);

}  // namespace stoker
