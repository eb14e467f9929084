// Base of optimizers: the state of each parameter, and groups of parameters that one call can
// update, because they have the same rates and number of steps.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "stoker/run/optimizer.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/kernels/tensor_pieces.h"

namespace stoker {

// Parameters with gradients and states, in the same order. All tensors of one parameter have the
// same layout, so kernels may process memory linearly.
struct ParameterGroup {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> gradients;
  std::vector<std::vector<at::Tensor>> states;  // [state][parameter]
  int64_t step = 0;                             // the current step, from 1
  double lr = 0;
  double decay_scale = 1;
  std::optional<double> momentum;  // of the schedule

  // Returns the step for fused kernels: a float scalar on the parameters' device for each
  // parameter.
  std::vector<at::Tensor> StepTensors() const;
};

class GroupedOptimizer : public Optimizer {
 public:
  //   states  the names of each parameter's states, which are zeros of its shape at first
  GroupedOptimizer(const TrainedParameters& parameters, std::vector<std::string> states);

  void Step(const ScheduleValue& now) final;
  // Returns NAME.STATE for each, and NAME.step: the number of steps, int64 in CPU memory.
  NamedTensors State() const final;

 protected:
  // Called without gradient recording, with at least one parameter.
  // Parameters whose gradients are of rows come alone, as copies of those rows.
  virtual void StepGroup(ParameterGroup& group) = 0;

 private:
  struct Slot {
    TrainedParameter parameter;
    std::vector<at::Tensor> states;
    at::Tensor step;
  };
  void StepRows(Slot& slot, const ParameterGroup& alone);

  std::vector<std::string> names_;
  std::vector<Slot> slots_;
};

// Returns true if kernels/optimizer_kernel.h can be used.
bool OnPlainFloats(const ParameterGroup& group);

}  // namespace stoker
