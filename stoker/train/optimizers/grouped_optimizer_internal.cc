#include "stoker/train/optimizers/grouped_optimizer_internal.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <map>
#include <tuple>

namespace stoker {
namespace {

// The gradient, laid out as the parameter.
at::Tensor GradientOf(const at::Tensor& parameter) {
  const at::Tensor& gradient = parameter.grad();
  if (gradient.strides() == parameter.strides()) return gradient;
  return at::empty_like(parameter).copy_(gradient);
}

}  // namespace

std::vector<at::Tensor> ParameterGroup::StepTensors() const {
  const at::Tensor made =
      at::full({}, static_cast<double>(step), parameters.front().options().dtype(at::kFloat));
  return std::vector<at::Tensor>(parameters.size(), made);
}

GroupedOptimizer::GroupedOptimizer(const TrainedParameters& parameters,
                                   std::vector<std::string> states)
    : names_(std::move(states)) {
  for (const TrainedParameter& parameter : parameters) {
    Slot slot{.parameter = parameter, .states = {}, .step = at::zeros({}, at::kLong)};
    for (size_t i = 0; i < names_.size(); ++i) {
      slot.states.push_back(at::zeros_like(parameter.tensor.detach()));
    }
    slots_.push_back(std::move(slot));
  }
}

void GroupedOptimizer::Step(const ScheduleValue& now) {
  const at::NoGradGuard no_grad;
  std::map<std::tuple<double, double, int64_t>, ParameterGroup> groups;
  for (Slot& slot : slots_) {
    const TrainedParameter& parameter = slot.parameter;
    if (!parameter.tensor.grad().defined() || parameter.lr_scale == 0) continue;
    const int64_t step = ++*slot.step.data_ptr<int64_t>();
    ParameterGroup& group = groups[{parameter.lr_scale, parameter.decay_scale, step}];
    group.step = step;
    group.lr = now.lr * parameter.lr_scale;
    group.decay_scale = parameter.decay_scale;
    group.momentum = now.momentum;
    group.parameters.push_back(parameter.tensor);
    group.gradients.push_back(GradientOf(parameter.tensor));
    group.states.resize(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) group.states[i].push_back(slot.states[i]);
  }
  for (auto& [key, group] : groups) StepGroup(group);
}

NamedTensors GroupedOptimizer::State() const {
  NamedTensors all;
  for (const Slot& slot : slots_) {
    for (size_t i = 0; i < names_.size(); ++i) {
      all.push_back({slot.parameter.name + "." + names_[i], slot.states[i]});
    }
    all.push_back({slot.parameter.name + ".step", slot.step});
  }
  return all;
}

bool OnPlainFloats(const ParameterGroup& group) {
  return ArePlainFloats(group.parameters) && ArePlainFloats(group.gradients);
}

}  // namespace stoker
