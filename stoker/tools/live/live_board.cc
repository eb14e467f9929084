#include "stoker/tools/live/live_board.h"

namespace stoker {
namespace {

// More evaluations than a reader takes in a second are none that anybody looks at.
constexpr size_t kMostNewEvaluations = 1000;

}  // namespace

void LiveBoard::Update(const std::function<void(LiveFacts&)>& change) {
  const MutexLock lock(mutex_);
  change(facts_);
}

void LiveBoard::AddLoss(const TrainPoint& point) {
  const MutexLock lock(mutex_);
  losses_.Add({point.step, point.loss, point.lr});
}

void LiveBoard::AddEvaluation(const EvaluationPoint& point) {
  const MutexLock lock(mutex_);
  if (evaluations_.size() < kMostNewEvaluations) evaluations_.push_back(point);
}

LiveFacts LiveBoard::Get() const {
  const MutexLock lock(mutex_);
  return facts_;
}

NewPoints LiveBoard::TakeNew() {
  const MutexLock lock(mutex_);
  NewPoints points;
  for (const ThinnedRows::Row& row : losses_.rows())
    points.losses.push_back({.step = row[0], .loss = row[1], .lr = row[2]});
  losses_.Clear();
  points.evaluations = std::exchange(evaluations_, {});
  return points;
}

}  // namespace stoker
