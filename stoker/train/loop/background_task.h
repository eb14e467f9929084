// BackgroundTask: runs one piece of work at a time on its own thread.
#pragma once

#include <atomic>
#include <functional>

#include "stoker/base/status.h"
#include "stoker/base/worker_group.h"

namespace stoker {

// One thread at a time. Destroying it waits for the work, whose Status is then lost.
class BackgroundTask {
 public:
  // Starts `work`, or runs it at once if the system cannot create a thread. Its exceptions become
  // its Status. REQUIRES: none is pending.
  //   name  of the thread, at most 14 characters
  void Begin(std::string_view name, std::function<Status()> work);
  // Does the same on the calling thread.
  void Do(const std::function<Status()>& work);

  // Returns whether there is work whose Status was not taken.
  bool pending() const { return pending_; }
  // Whether Take would return at once. Costs nothing.
  bool done() const { return pending_ && done_; }

  // Waits for the work, of which some must be pending, and returns its Status.
  Status Take();

 private:
  bool pending_ = false;
  Status status_;  // written by the thread, read after it was joined
  std::atomic<bool> done_{false};
  WorkerGroup thread_;  // last: joined before the other members are destroyed
};

}  // namespace stoker
