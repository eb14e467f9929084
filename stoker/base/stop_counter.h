// StopCounter: lets long loops over pixels notice a stop at negligible cost.
#pragma once

#include <cstdint>

#include "stoker/base/stop_scope.h"

namespace stoker {

// Counts the work of one call and checks StopScope after every few milliseconds' worth of it, so
// small pictures never check. For one thread.
class StopCounter {
 public:
  // Returns true if this thread is to stop.
  //   work  done since the last call, in pixels or what takes about as long
  bool Asked(int64_t work) {
    left_ -= work;
    if (left_ > 0) return false;
    left_ = kWork;
    return StopScope::Asked();
  }

 private:
  static constexpr int64_t kWork = int64_t{1} << 20;

  int64_t left_ = kWork;
};

}  // namespace stoker
