// Schedule: the learning rate, and for some the momentum, of every step.
//
// Most are pure functions of the step, so a resumed run needs nothing of theirs. One that follows
// evaluations (plateau) keeps a few numbers, which travel in the checkpoint.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Evaluation;

struct ScheduleValue {
  double lr = 0;
  // SGD's momentum, Adam's first beta; nothing: the optimizer's own option holds.
  std::optional<double> momentum;
};

// What a schedule stretches over.
struct SchedulePlan {
  int64_t total_steps = 0;      // optimizer steps from the first to the last, at least 1
  int64_t steps_per_epoch = 0;  // at least 1

  // Steps in so many epochs, which need not be whole.
  double StepsIn(double epochs) const { return epochs * static_cast<double>(steps_per_epoch); }
};

// Concurrent calls of const functions are safe.
class Schedule {
 public:
  virtual ~Schedule() = default;

  // The value for step `step`, 0 <= step < total_steps. Behind the end the last value holds, unless
  // a schedule goes on for ever (cyclic).
  virtual ScheduleValue At(int64_t step) const = 0;

  // --- What only those need that follow evaluations ---

  virtual bool follows_evaluations() const { return false; }
  // Whether by their accuracy, which not all have.
  virtual bool follows_accuracy() const { return false; }
  // Told of each evaluation once, before the step behind it asks for its value.
  virtual void Observe(const Evaluation& /*evaluation*/) {}
  // All that Observe has changed; null where that is nothing.
  virtual Json Save() const { return nullptr; }
  // Errors: kDataLoss where `state` is none of Save's.
  virtual Status Restore(const Json& /*state*/) { return OkStatus(); }
};

}  // namespace stoker
