// One process of `stoker launch`.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/tools/launch/rank_environment.h"

namespace stoker {

struct RankOptions {
  std::vector<std::string> words;  // of a command of this program
  RankPlace place;
  std::vector<int> cpus;  // that it may use; empty: those of this process
  std::string log;        // the file that gets what it prints; empty: this process's output
};

// Passes what a process prints on line by line, with its rank in front. A line that is not yet
// whole waits for its end, or for 64 KiB.
class RankOutput {
 public:
  RankOutput(Descriptor from, std::FILE* to, std::string prefix)
      : from_(std::move(from)), to_(to), prefix_(std::move(prefix)) {}

  int descriptor() const { return from_.get(); }
  bool ended() const { return !from_.valid(); }
  // Reads what is there, without waiting for more than the first byte.
  void Pass();
  // Passes on what is left of it, after the process has ended.
  void Finish();

 private:
  void Print(std::string_view lines);

  Descriptor from_;
  std::FILE* to_;
  std::string prefix_;
  std::string begun_;
};

// It ends with this process, whatever ends that, and is in a process group of its own: a terminal's
// ^C goes to this process alone, which passes it on.
class RankProcess {
 public:
  // REQUIRES: this process has one thread. Errors: kResourceExhausted and others of starting it.
  static Result<RankProcess> Start(const RankOptions& options);

  int rank() const { return rank_; }
  // Looks whether it has ended.
  void Poll();
  // waitpid's status, once it has ended.
  const std::optional<int>& end() const { return end_; }
  // Sends a signal if it still runs.
  void Signal(int number) const;
  std::vector<RankOutput>& outputs() { return outputs_; }

 private:
  RankProcess(int rank, pid_t pid) : rank_(rank), pid_(pid) {}

  int rank_;
  pid_t pid_;
  std::optional<int> end_;
  std::vector<RankOutput> outputs_;
};

}  // namespace stoker
