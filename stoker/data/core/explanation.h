// The choices that the runtime made for a pass, with their reasons.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"
#include "stoker/base/mutex.h"

namespace stoker {

// One choice: `what` ("threads", "depth", "chunk") of a stage changed from one value to another;
// the first is from 0. "order" has no values.
struct Decision {
  double at_s = 0;  // since the pass was opened
  std::string stage;
  std::string what;
  int64_t from = 0, to = 0;
  std::string why;  // "the consumer waited 93% of 0.10 s while all 2 threads worked"

  std::string ToString() const;  // "0.31 s  map: threads 2 -> 4: the consumer waited ..."
  Json ToJson() const;
};

// The choices of a pass in order. Keeps the first and the last of very many. Thread-safe.
class DecisionLog {
 public:
  void Add(Decision decision);
  std::vector<Decision> decisions() const;
  // Returns how many are left out between the first and the last.
  int64_t left_out() const;

 private:
  const Stopwatch since_open_{};
  mutable Mutex mutex_;
  std::vector<Decision> first_ STOKER_GUARDED_BY(mutex_);
  std::deque<Decision> last_ STOKER_GUARDED_BY(mutex_);
  int64_t left_out_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
