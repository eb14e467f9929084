// All processes of `stoker launch`, until they have ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/launch/rank_process.h"

namespace stoker {

// How a process ended that did not end with 0.
struct RankFailure {
  int rank = 0;
  int status = 0;  // of waitpid

  // "rank 2 was killed by signal 9 (Killed)", "rank 2 ended with exit code 1".
  std::string Sentence() const;
  // 128 + N where signal N ended it.
  int exit_code() const;
};

struct RanksToRun {
  std::vector<std::string> words;
  int ranks = 1;
  int restart = 0, most_restarts = 0;
  bool share_cpus = false;
  std::string log_folder;  // empty: what they print goes to this process's output
};

// Starts them, passes their output on, and SIGINT, SIGTERM and SIGUSR1 that this process gets to
// all of them. Where one fails, the others get SIGTERM, and those that are still there after 30 s
// SIGKILL. Returns when all have ended: the first failure, if there was one. REQUIRES: signals are
// noted (NoteInterrupt); this process has one thread. Errors: those of starting them.
Result<std::optional<RankFailure>> RunRanks(const RanksToRun& options);

}  // namespace stoker
