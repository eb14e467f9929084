// What a program does where its ranks cannot go on, or are to stop.
#pragma once

#include <functional>

#include "stoker/base/status.h"

namespace stoker {

// All are called on the thread of the monitor (rank_monitor.h) and must not wait; those that begin
// with `on` at most once.
struct MonitorHooks {
  // At once when another rank is lost or has failed.
  std::function<void()> on_fault = {};
  // Where this rank has not noticed that after a while: it is inside something that neither ends
  // nor can be stopped. A program can only end.
  std::function<void(const Status& fault)> on_unheard = {};
  // Returns whether this rank was asked to stop, by a signal for instance.
  std::function<bool()> stops = {};
  // Where any rank was. It ends waits of this one that are not for other ranks; all then agree
  // after which step they stop.
  std::function<void()> on_stop = {};
};

}  // namespace stoker
