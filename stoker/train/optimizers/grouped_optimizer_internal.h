// What optimizers have in common: the state of each parameter, and the parameters that can be moved
// by one call, because they have the same rates and have made as many steps.
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

// Parameters with gradients, and what belongs to each, in the same order. All of one parameter is
// laid out alike, so kernels may walk over memory.
struct ParameterGroup {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> gradients;
  std::vector<std::vector<at::Tensor>> states;  // [state][parameter]
  int64_t step = 0;                             // this one, from 1
  double lr = 0;
  double decay_scale = 1;
  std::optional<double> momentum;  // of the schedule

  // As the fused kernels take the step: a float scalar on the parameters' device for each.
  std::vector<at::Tensor> StepTensors() const;
};

class GroupedOptimizer : public Optimizer {
 public:
  //   states  the names of what is kept of each parameter: zeros of its shape at first
  GroupedOptimizer(const TrainedParameters& parameters, std::vector<std::string> states);

  void Step(const ScheduleValue& now) final;
  // NAME.STATE for each, and NAME.step: the steps made, int64 in CPU memory.
  NamedTensors State() const final;

 protected:
  // Called without gradient recording, with at least one parameter.
  virtual void StepGroup(ParameterGroup& group) = 0;

 private:
  struct Slot {
    TrainedParameter parameter;
    std::vector<at::Tensor> states;
    at::Tensor step;
  };

  std::vector<std::string> names_;
  std::vector<Slot> slots_;
};

// True where the kernels of kernels/optimizer_kernel.h can be used.
bool OnPlainFloats(const ParameterGroup& group);

}  // namespace stoker
