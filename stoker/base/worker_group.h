// A few named threads that run one function each until it returns.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// The destructor joins the threads. The owner must make the body return in time (close a queue, set
// a flag).
class WorkerGroup {
 public:
  // Starts `count` threads that each run body(worker), worker = 0..count-1. `name` shows in top,
  // gdb and traces (at most 15 characters with the number). The threads block SIGINT and SIGTERM,
  // so that those reach the main thread. The body runs on all of them or on none. Errors:
  // kResourceExhausted if the system does not create that many, after the others have ended.
  static Result<WorkerGroup> Start(int count, std::string_view name,
                                   std::function<void(int worker)> body);

  WorkerGroup() = default;
  WorkerGroup(WorkerGroup&&) = default;
  WorkerGroup& operator=(WorkerGroup&&) = default;
  ~WorkerGroup() = default;

  // Waits until all have returned.
  void Join();

 private:
  std::vector<std::jthread> threads_;
};

// Returns the number of CPUs this process may run on: its affinity mask, limited by the control
// group's quota (rounded up).
int AvailableCpus();

}  // namespace stoker
