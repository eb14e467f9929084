// Adds up what the processes of a tree do, sample by sample.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/doctor/process_profile.h"
#include "stoker/machine/processes/process_sample.h"

namespace stoker {

// Reads no clock and no file itself. Used by one thread.
class ProcessWatch {
 public:
  // Takes what the processes did at the moment `now_ns`, later than before.
  void Add(std::span<const ProcessSample> samples, int64_t now_ns);
  // Says what a process is called; the last call counts, because a process may become another.
  void SetCommand(int64_t pid, std::vector<std::string> words);
  // Whether the command of a process is still to be read: it was not, it showed none
  // (CommandLineOf), or its name has changed.
  bool WantsCommand(const ProcessSample& sample) const;

  // Returns the processes that were seen at least twice, the busiest first, with their roles.
  std::vector<ProcessTimes> Times() const;

 private:
  struct Thread {
    ThreadSample first, last;
    int64_t begin_ns = 0, end_ns = 0;
    std::array<int64_t, kThreadStates> states = {};
  };
  struct Process {
    ProcessSample first, last;  // without their threads
    int64_t begin_ns = 0, end_ns = 0;
    int64_t most_threads = 0, most_memory = 0;
    std::map<int64_t, Thread> threads;
    std::vector<std::string> command;
    std::string named;  // the process's name when its command was read
  };
  static ProcessTimes TimesOf(const Process& process);
  static ThreadTimes TimesOf(const Thread& thread);

  std::map<std::pair<int64_t, int64_t>, Process> processes_;  // by start and pid
};

// Says which processes train, which work for those, and which do neither: the one that trains is
// the first below shells and launchers. A worker is a process below it that runs the same program,
// or that Python's multiprocessing started.
//   parents   the parent of each process
//   commands  the words of each command
void AssignRoles(std::vector<ProcessTimes>& processes, const std::map<int64_t, int64_t>& parents,
                 const std::map<int64_t, std::vector<std::string>>& commands);

}  // namespace stoker
