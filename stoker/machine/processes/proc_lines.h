// Parses the files of /proc/PID and /proc/PID/task/TID that are one line or a few.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/machine/processes/process_sample.h"

namespace stoker {

// What is used of a line of `stat`.
struct StatLine {
  int64_t pid = 0, parent = 0;
  std::string name;  // may hold anything, also spaces and parentheses
  char state = '?';  // R, S, D, Z, T ...
  int64_t minor_faults = 0, major_faults = 0;
  int64_t user_ticks = 0, system_ticks = 0;
  int64_t threads = 0;
  int64_t start = 0;
  int64_t memory_pages = 0;
};

// Returns nothing for a text that is no such line.
std::optional<StatLine> ParseStat(std::string_view text);

// "CPU QUEUED SLICES", the first two in nanoseconds.
struct SchedstatLine {
  int64_t cpu_ns = 0, queued_ns = 0;
  int64_t slices = 0;  // how often the thread got a CPU
};
std::optional<SchedstatLine> ParseSchedstat(std::string_view text);

// Returns what a thread does.
//   state    of its stat line
//   syscall  its file `syscall`: "202 0x7f... ..." or "running"; empty: may not be read
//   wchan    its file `wchan`, the kernel's function that it sleeps in; used where `syscall` does
//   not
//            say: see NeedsWchan
ThreadState StateOf(char state, std::string_view syscall, std::string_view wchan);
bool NeedsWchan(std::string_view syscall);

}  // namespace stoker
