// BackgroundTask: one piece of work at a time on a thread of its own.
#pragma once

#include <atomic>
#include <functional>

#include "stoker/base/status.h"
#include "stoker/base/worker_group.h"

namespace stoker {

// One thread at a time. Destroying it waits for the work, whose Status is then lost.
class BackgroundTask {
 public:
  // Runs `work`; where the system gives no thread, at once. What it throws becomes its Status. None
  // may be pending.
  //   name  of the thread, at most 14 characters
  void Begin(std::string_view name, std::function<Status()> work);
  // The same on the calling thread.
  void Do(const std::function<Status()>& work);

  // Whether there is work whose Status was not taken.
  bool pending() const { return pending_; }
  // Whether Take would return at once. Costs nothing.
  bool done() const { return pending_ && done_; }

  // Waits for the work, of which some must be pending, and returns its Status.
  Status Take();

 private:
  bool pending_ = false;
  Status status_;  // written by the thread, read after it was joined
  std::atomic<bool> done_{false};
  WorkerGroup thread_;  // last: joined before the rest goes
};

}  // namespace stoker
