// Optimizer: moves parameters along their gradients.
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

  // One step with the gradients that the parameters hold; a parameter without one is left alone,
  // and so is its state.
  virtual void Step(const ScheduleValue& now) = 0;

  // Everything that must be restored for the next step to give the same bytes, by name, sharing
  // memory: copying into these tensors restores it.
  virtual NamedTensors State() const = 0;
};

}  // namespace stoker
