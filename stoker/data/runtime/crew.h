// The threads of a ReadAhead, whose number changes while they run, and the share of time that they
// compute.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "stoker/base/worker_group.h"

namespace stoker {

// Used by one thread at a time. The destructor joins the threads.
class Crew {
 public:
  // Starts `count` more threads that run `body` once each. kResourceExhausted if the system cannot
  // create that many; then none runs.
  Status Start(int count, std::string_view name, const std::function<void()>& body);
  // Waits until all have returned.
  void Join();

 private:
  struct Group {
    std::shared_ptr<std::atomic<int>> running;
    WorkerGroup threads;
  };
  std::vector<Group> groups_;  // those that have ended are dropped by the next Start
};

// CPU time of the calling thread.
int64_t ThreadCpuNs();

// Returns how long the calling thread was runnable while others had the CPUs; 0 if the system does
// not report it (Linux: /proc/thread-self/schedstat).
int64_t ThreadCpuWaitNs();

// The share of their time that threads compute, or would if they had a CPU; the rest they sleep.
// Reading a thread's times is a system call, so each thread does it only occasionally. Not
// thread-safe.
class CpuShare {
 public:
  // A thread's own part: how long it has worked, and its times when that was last added. Used by
  // the thread itself, without a lock.
  struct Thread {
    // Work begins now.
    void Begin();
    // Counts the work since Begin or the last Count. Returns whether it has become enough to Add.
    bool Count();

    int64_t began_ns = 0;
    int64_t worked_ns = 0;
    int64_t cpu_ns = ThreadCpuNs();
    int64_t cpu_wait_ns = ThreadCpuWaitNs();
  };

  // Called by the thread itself, after a Count that returned true.
  void Add(Thread& thread);
  double value() const;  // of the last seconds; 1 if unknown

 private:
  double worked_ns_ = 0, cpu_ns_ = 0;  // decaying sums
};

}  // namespace stoker
