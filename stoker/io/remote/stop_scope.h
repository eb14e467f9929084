// StopScope: how a pass that is told to end reaches a thread that waits for a server deep inside a
// read by position, whose functions know of files and bytes and of no pass.
#pragma once

#include <functional>

namespace stoker {

// While one lives, requests that its thread makes without a Cancellation of their own, and the
// waits between two tries, end with kCancelled once `stop` says true. It is asked about ten times a
// second, on this thread. Of several the innermost counts. Destroyed by the thread that made it,
// innermost first.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> stop);
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

  // What the innermost of this thread asks; empty where there is none.
  static const std::function<bool()>& OfThread();

 private:
  const std::function<bool()> stop_;
  const StopScope* const around_;
};

}  // namespace stoker
