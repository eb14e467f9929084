// Optimizer: updates parameters by their gradients.
#pragma once

#include <vector>

#include "stoker/run/schedule.h"

namespace stoker {

struct NamedTensor;
using NamedTensors = std::vector<NamedTensor>;
struct TrainedParameter;  // parameters.h
using TrainedParameters = std::vector<TrainedParameter>;

// Built over a model's parameters, whose memory it shares. One thread at a time.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Makes one step with the gradients of the parameters. Does not change a parameter without a
  // gradient, nor its state.
  virtual void Step(const ScheduleValue& now) = 0;

  // Returns the complete state that determines the next step's bytes, by name, sharing memory:
  // copying into these tensors restores it.
  virtual NamedTensors State() const = 0;
};

}  // namespace stoker
