#include "stoker/tools/trainer/slurm_job.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

extern char** environ;

namespace stoker {

Result<SlurmJob> FindSlurmJob(const Variable& variable) {
  const auto text = [&](const char* name) -> std::string {
    const char* const value = variable(name);
    return value == nullptr ? "" : value;
  };
  SlurmJob job{.name = text("SLURM_JOB_ID")};
  if (job.name.empty()) {
    return FailedPrecondition(
        "the environment has no SLURM_JOB_ID, so this is no job of Slurm that it could put back "
        "into its queue; leave --requeue out, or start this with sbatch");
  }
  // The number of an array's first job is the number of the array too.
  const std::string array = text("SLURM_ARRAY_JOB_ID"), task = text("SLURM_ARRAY_TASK_ID");
  if (!array.empty() && !task.empty()) job.name = array + "_" + task;
  job.restarts = std::atoi(text("SLURM_RESTART_COUNT").c_str());
  return job;
}

Result<SlurmJob> FindSlurmJob() {
  return FindSlurmJob([](const char* name) -> const char* { return ::getenv(name); });
}

Status RequeueJob(const SlurmJob& job) {
  std::string name = "scontrol", command = "requeue", of = job.name;
  const std::array<char*, 4> argv = {name.data(), command.data(), of.data(), nullptr};
  sigset_t none, defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);  // which this process ignores
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, name.c_str(), nullptr, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return FailedPrecondition(
        "scontrol, which puts the job {} back into the queue, cannot be started: {}", job.name,
        std::generic_category().message(error));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return OkStatus();
  return FailedPrecondition("`scontrol requeue {}` failed with {}", job.name,
                            WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                              : fmt::format("signal {}", WTERMSIG(status)));
}

}  // namespace stoker
