// Schedule: the learning rate, and for some the momentum, of every step.
//
// Most are pure functions of the step, so a checkpoint stores nothing for them. One that follows
// evaluations (plateau) keeps a few numbers, which the checkpoint stores.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

struct Evaluation;

struct ScheduleValue {
  double lr = 0;
  // SGD's momentum, Adam's first beta; nothing: the optimizer's own option applies.
  std::optional<double> momentum;
};

// The length of a schedule.
struct SchedulePlan {
  int64_t total_steps = 0;      // optimizer steps from the first to the last, at least 1
  int64_t steps_per_epoch = 0;  // at least 1

  // Returns the steps in `epochs` epochs, which need not be whole.
  double StepsIn(double epochs) const { return epochs * static_cast<double>(steps_per_epoch); }
};

// Concurrent calls of const functions are safe.
class Schedule {
 public:
  virtual ~Schedule() = default;

  // Returns the value for step `step`, 0 <= step < total_steps. After the end the last value
  // applies, unless a schedule is endless (cyclic).
  virtual ScheduleValue At(int64_t step) const = 0;

  // --- Only for schedules that follow evaluations ---

  virtual bool follows_evaluations() const { return false; }
  // Returns whether it needs their accuracy, which not all have.
  virtual bool follows_accuracy() const { return false; }
  // Called once for each evaluation, before the value of the next step is read.
  virtual void Observe(const Evaluation& /*evaluation*/) {}
  // Returns everything that Observe changes; null if nothing.
  virtual Json Save() const { return nullptr; }
  // Restores a state of Save. Errors: kDataLoss if `state` is malformed.
  virtual Status Restore(const Json& /*state*/) { return OkStatus(); }
};

}  // namespace stoker
