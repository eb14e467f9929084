// A program that is started to be watched, and all that it starts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// This process becomes the parent of what the program leaves behind (a subreaper), so a daemon
// stays in its tree. Other children of this process are waited for by whoever started them. One
// object and one thread at a time. The destructor leaves the program as it is: call End first.
class WatchedCommand {
 public:
  // Starts the program `words[0]`, which is searched in PATH, with the others as its arguments; no
  // shell reads them. It has this process's input, error, folder and environment.
  //
  // Where a terminal sends ^C and ^Z to this process, the program stays in its process group, so
  // that both get them; elsewhere it gets a group of its own, and signals reach it by Signal.
  //   output_to_error  what it prints goes to standard error, which keeps standard output free
  //   variables        names and values that its environment has beside this process's
  // Errors: kNotFound, kPermissionDenied and others of posix_spawnp(3), with what to do.
  static Result<WatchedCommand> Start(
      const std::vector<std::string>& words, bool output_to_error,
      const std::vector<std::pair<std::string, std::string>>& variables = {});

  pid_t pid() const { return pid_; }

  // Waits for those children that have ended, but not for `except`. Call it now and then.
  void Reap(const std::vector<pid_t>& except);
  // Of the program itself, after a Reap: its exit code, or 128 + N if signal N ended it.
  const std::optional<int64_t>& exit_code() const { return exit_code_; }

  // Passes a signal on that this process got, unless a terminal sent it to both.
  void PassOn(int signal) const;

  // Ends the program and what it started: SIGTERM, and SIGKILL for what is still there after five
  // seconds. Returns when nothing is left.
  //   tree          returns the processes that are still there
  //   patience_s    how long the program itself may take to end before that; 0: none
  //   except        as for Reap
  void End(const std::function<std::vector<int64_t>()>& tree, double patience_s,
           const std::vector<pid_t>& except);

 private:
  explicit WatchedCommand(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}

  pid_t pid_;
  bool own_group_;
  std::optional<int64_t> exit_code_;
};

}  // namespace stoker
