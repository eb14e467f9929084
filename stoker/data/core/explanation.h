// Why a pass runs as it does: each choice that the runtime made, with the figures behind it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/json.h"

namespace stoker {

// One choice: `what` ("threads", "depth", "chunk") of a stage went from one value to another; from
// 0 where it is the first. "order" has no values.
struct Decision {
  double at_s = 0;  // since the pass was opened
  std::string stage;
  std::string what;
  int64_t from = 0, to = 0;
  std::string why;  // "the consumer waited 93% of 0.10 s while all 2 threads worked"

  std::string ToString() const;  // "0.31 s  map: threads 2 -> 4: the consumer waited ..."
  Json ToJson() const;
};

// The choices of a pass in their order. Of very many the first and the last are kept. Thread-safe.
class DecisionLog {
 public:
  void Add(Decision decision);
  std::vector<Decision> decisions() const;
  // How many are left out between the first and the last.
  int64_t left_out() const;

 private:
  const Stopwatch since_open_{};
  mutable std::mutex mutex_;
  std::vector<Decision> first_;
  std::deque<Decision> last_;
  int64_t left_out_ = 0;
};

}  // namespace stoker
