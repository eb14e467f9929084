// Schedule: the learning rate, and for some the momentum, of every step. Pure functions, so a
// resumed run needs no state of theirs.
#pragma once

#include <cstdint>
#include <optional>

namespace stoker {

struct ScheduleValue {
  double lr = 0;
  // SGD's momentum, Adam's first beta; nothing: the optimizer's own option holds.
  std::optional<double> momentum;
};

// What a schedule stretches over.
struct SchedulePlan {
  int64_t total_steps = 0;      // optimizer steps from the first to the last, at least 1
  int64_t steps_per_epoch = 0;  // at least 1
};

// Immutable; concurrent calls are safe.
class Schedule {
 public:
  virtual ~Schedule() = default;

  // The value for step `step`, 0 <= step < total_steps. Behind the end the last value holds.
  virtual ScheduleValue At(int64_t step) const = 0;
};

}  // namespace stoker
