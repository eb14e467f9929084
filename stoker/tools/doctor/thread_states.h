// Samples what the threads of this process do: compute, or wait, and for what.
#pragma once

#include <atomic>
#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/base/worker_group.h"

namespace stoker {

// Mean numbers of threads at a moment.
struct ThreadStates {
  double runnable = 0;  // compute, or want a CPU
  double lock = 0;      // wait for a lock, or for work
  double disk = 0;      // wait for a disk or a socket
  double sleep = 0;     // sleep for a time
  double others = 0;    // runnable threads of other processes of the machine
  int64_t samples = 0;
};

// Reads /proc/self/task 50 times a second from Start to Stop, at the cost of some hundred
// microseconds each. What /proc does not show counts as nothing. One thread at a time.
class ThreadSampler {
 public:
  ThreadSampler() = default;
  ~ThreadSampler() { Stop(); }
  ThreadSampler(const ThreadSampler&) = delete;
  ThreadSampler& operator=(const ThreadSampler&) = delete;

  // Errors: those of WorkerGroup::Start.
  Status Start();
  ThreadStates Stop();

 private:
  void Run();

  std::atomic<bool> ending_{false};
  ThreadStates sum_;  // of all samples; read once the thread has ended
  WorkerGroup thread_;
};

}  // namespace stoker
