// Reads what the processes of a tree do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "stoker/machine/processes/process_sample.h"

namespace stoker {

// A process that has been seen in the tree stays in it when its parent ends and another takes it
// over. Used by one thread.
class ProcessReader {
 public:
  //   top       the process whose tree is read
  //   with_top  whether it belongs to the tree itself
  //   proc      where /proc is mounted; tests make up others
  ProcessReader(int64_t top, bool with_top, std::filesystem::path proc = "/proc");

  // Leaves this process out, and what it starts from now on.
  void Exclude(int64_t pid) { excluded_.insert(pid); }

  // Looks which processes belong to the tree now. Reads a line of each process of the machine.
  void FindTree();

  // Returns what the processes of the tree do, the oldest first; those that have ended and were
  // waited for are left out. Reads three small files of each thread.
  std::vector<ProcessSample> Read() const;

  // Whether the system calls of the tree's threads may be seen: false if those of another user's.
  bool sees_calls() const { return sees_calls_; }

 private:
  ProcessSample ReadProcess(int64_t pid) const;
  ThreadSample ReadThread(const std::filesystem::path& folder, int64_t id) const;

  const int64_t top_;
  const bool with_top_;
  const std::filesystem::path proc_;
  std::set<int64_t> excluded_;
  std::set<std::pair<int64_t, int64_t>> tree_;  // start and pid
  mutable bool sees_calls_ = true;
};

// Returns the words of a process's command line; its name in brackets if it shows none.
std::vector<std::string> CommandLineOf(int64_t pid, const std::filesystem::path& proc = "/proc");

}  // namespace stoker
