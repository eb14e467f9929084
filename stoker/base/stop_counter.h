// StopCounter: how long loops over pixels notice that they are to stop, at a cost that does not
// show.
#pragma once

#include <cstdint>

#include "stoker/base/stop_scope.h"

namespace stoker {

// Counts the work of one call and looks at StopScope each time that enough has been done: some
// milliseconds' worth, so small pictures never look. For one thread.
class StopCounter {
 public:
  // Whether this thread is to stop.
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
