#include "stoker/train/optimizers/grouped_optimizer_internal.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "stoker/train/core/row_gradient.h"
#include "stoker/train/kernels/table_rows.h"

namespace stoker {
namespace {

// What is copied of a table at once: with its states and gradients it fits into a core's caches.
constexpr int64_t kValuesAtOnce = 1 << 15;
constexpr int64_t kLeastRows = 64;

// The rows of a table, and back.
at::Tensor RowsFrom(const at::Tensor& table, const at::Tensor& rows) {
  return IsPlainTable(table) ? CopyRows(table, rows) : table.index_select(0, rows);
}

void RowsInto(at::Tensor table, const at::Tensor& rows, const at::Tensor& values) {
  if (IsPlainTable(table))
    WriteRows(table, rows, values);
  else
    table.index_copy_(0, rows, values);
}

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
    const ParameterGroup alone{.step = step,
                               .lr = now.lr * parameter.lr_scale,
                               .decay_scale = parameter.decay_scale,
                               .momentum = now.momentum};
    if (IsOfRows(parameter.tensor.grad())) {
      TORCH_CHECK(row_updates() != RowUpdates::kNone && parameter.tensor.grad().is_coalesced(),
                  "the optimizer takes no gradient of rows, which '", parameter.name, "' has");
      StepRows(slot, alone);
      continue;
    }
    ParameterGroup& group =
        groups.try_emplace({parameter.lr_scale, parameter.decay_scale, step}, alone).first->second;
    group.parameters.push_back(parameter.tensor);
    group.gradients.push_back(GradientOf(parameter.tensor));
    group.states.resize(names_.size());
    for (size_t i = 0; i < names_.size(); ++i) group.states[i].push_back(slot.states[i]);
  }
  for (auto& [key, group] : groups) StepGroup(group);
}

// By a few rows at a time: between their copy and their return they stay in the caches.
void GroupedOptimizer::StepRows(Slot& slot, const ParameterGroup& alone) {
  const at::Tensor& table = slot.parameter.tensor;
  const at::Tensor rows = RowsOf(table.grad());
  const at::Tensor gradients = ValuesOfGradient(table.grad()).contiguous();
  const int64_t width = table.numel() / std::max<int64_t>(table.size(0), 1);
  const int64_t chunk = table.is_cpu()
                            ? std::max(kValuesAtOnce / std::max<int64_t>(width, 1), kLeastRows)
                            : rows.numel();
  for (int64_t begin = 0; begin < rows.numel(); begin += chunk) {
    const int64_t count = std::min(chunk, rows.numel() - begin);
    const at::Tensor some = rows.narrow(0, begin, count);
    ParameterGroup group = alone;
    group.parameters = {RowsFrom(table, some)};
    group.gradients = {gradients.narrow(0, begin, count)};
    for (const at::Tensor& state : slot.states) group.states.push_back({RowsFrom(state, some)});
    StepGroup(group);
    RowsInto(table, some, group.parameters.front());
    for (size_t i = 0; i < slot.states.size(); ++i)
      RowsInto(slot.states[i], some, group.states[i].front());
  }
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
