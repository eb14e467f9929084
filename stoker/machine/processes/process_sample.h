// What processes and their threads have done until a moment, and what they do at it.
//
// Plain values. Counters begin with the process or thread, so a rate needs two samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// What a thread does at a moment. Waits are told apart by the system call that the thread sleeps
// in.
enum class ThreadState {
  kRunning,  // computes, or is ready to and waits for a CPU
  kDisk,     // waits for a disk: the kernel's state D
  kLock,     // waits for a lock or a condition (futex)
  kPoll,     // waits for any of several descriptors
  kNetwork,  // receives from a socket, or connects one
  kRead,     // reads a pipe, a terminal or a file
  kSleep,    // sleeps for a time
  kChild,    // waits for another process to end
  kOther,    // something else, or this user may not see it
  kEnded,    // a zombie
};

inline constexpr int kThreadStates = static_cast<int>(ThreadState::kEnded) + 1;

struct ThreadSample {
  int64_t id = 0;
  ThreadState state = ThreadState::kOther;
  int64_t cpu_ns = 0;     // of a CPU
  int64_t queued_ns = 0;  // ready, without a CPU; 0 if the kernel does not count it
  int64_t slices = 0;     // how often it got one; likewise
};

struct ProcessSample {
  int64_t pid = 0, parent = 0;
  int64_t start = 0;         // in ticks since the machine began; tells processes of one pid apart
  std::string name;          // at most 15 characters
  bool ended = false;        // a zombie
  int64_t user_ticks = 0;    // of all of its threads, also of those that have ended
  int64_t system_ticks = 0;  // likewise
  int64_t minor_faults = 0, major_faults = 0;
  int64_t memory_bytes = 0;           // resident
  std::optional<int64_t> disk_bytes;  // read from disks; nothing: this user may not see it
  std::optional<int64_t> read_bytes;  // by all calls that read, also from caches and pipes
  std::vector<ThreadSample> threads;  // the first one's id is the process's
};

}  // namespace stoker
