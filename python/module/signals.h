// Ctrl-C in a wait without the GIL.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "stoker/base/stop_scope.h"

namespace stoker::python {

// While one lives, waits of this thread in the engine end soon after a handler of a Python signal
// raised, which only the main thread of Python runs. Made and destroyed without the GIL. The
// exception is then the thread's current one.
class SignalScope {
 public:
  SignalScope();
  bool raised() const { return raised_; }

 private:
  bool Ask();

  const std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<bool> raised_{false};
  const StopScope scope_;
};

}  // namespace stoker::python
