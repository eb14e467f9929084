// LiveBoard: where a command writes what it does, and the server reads it.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/tools/live/live_facts.h"
#include "stoker/tools/live/thinned_rows.h"

namespace stoker {

// The points of the curves since the last call of TakeNew.
struct NewPoints {
  std::vector<TrainPoint> losses;  // means over several steps, where steps are many
  std::vector<EvaluationPoint> evaluations;
};

// Thread-safe; each call takes a lock for less than a microsecond, except Get, which copies.
class LiveBoard {
 public:
  explicit LiveBoard(LiveFacts facts) : facts_(std::move(facts)) {}

  // Changes the facts. `change` is called with the lock held.
  void Update(const std::function<void(LiveFacts&)>& change);
  void AddLoss(const TrainPoint& point);
  void AddEvaluation(const EvaluationPoint& point);

  LiveFacts Get() const;
  // For one reader.
  NewPoints TakeNew();

 private:
  static constexpr size_t kMostNew = 64;  // losses between two calls of TakeNew

  mutable Mutex mutex_;
  LiveFacts facts_ STOKER_GUARDED_BY(mutex_);
  ThinnedRows losses_ STOKER_GUARDED_BY(mutex_){kMostNew};
  std::vector<EvaluationPoint> evaluations_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
