// The job of Slurm in which this process runs.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/tools/program/launcher.h"

namespace stoker {

struct SlurmJob {
  std::string name;  // as scontrol takes it: 17, or 17_3 of an array, of which 17 means all
  int restarts = 0;  // how often Slurm has put it back into the queue
};

// Looks at the environment. Errors: kFailedPrecondition: there is no job.
Result<SlurmJob> FindSlurmJob(const Variable& variable);
Result<SlurmJob> FindSlurmJob();

// Has Slurm put the job back into the queue (`scontrol requeue`), which also ends all of its
// processes. Errors: kFailedPrecondition: scontrol is not there, or refuses, as it has said itself.
Status RequeueJob(const SlurmJob& job);

}  // namespace stoker
