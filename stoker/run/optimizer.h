// Optimizer: updates parameters by their gradients.
#pragma once

#include <vector>

#include "stoker/run/schedule.h"

namespace stoker {

struct NamedTensor;
using NamedTensors = std::vector<NamedTensor>;
struct TrainedParameter;  // parameters.h
using TrainedParameters = std::vector<TrainedParameter>;

// What an optimizer does with the gradient of a table of which a step uses some rows only
// (train/core/row_gradient.h).
enum class RowUpdates {
  kNone,  // it needs a gradient of the whole table
  kSame,  // it updates those rows; the others would not have moved either
  kLazy   // it updates those rows, and leaves others that would have moved as they are
};

// Built over a model's parameters, whose memory it shares. One thread at a time.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Makes one step with the gradients of the parameters. Does not change a parameter without a
  // gradient, nor its state.
  virtual void Step(const ScheduleValue& now) = 0;

  // Returns what it does with gradients of rows. It is given such gradients only if it can use
  // them.
  virtual RowUpdates row_updates() const { return RowUpdates::kNone; }

  // Returns the complete state that determines the next step's bytes, by name, sharing memory:
  // copying into these tensors restores it.
  virtual NamedTensors State() const = 0;
};

}  // namespace stoker
