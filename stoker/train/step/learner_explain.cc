// The part of Learner that says what went wrong in a step, and where.
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <fmt/format.h>

#include "stoker/train/core/parameters.h"
#include "stoker/train/core/row_gradient.h"
#include "stoker/train/core/training_pass.h"
#include "stoker/train/step/finiteness.h"
#include "stoker/train/step/layer_trace.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/step/out_of_memory.h"

namespace stoker {
namespace {

// ", of target 'price'"; empty for none.
std::string OfTargets(const std::vector<std::string>& fields) {
  if (fields.empty()) return "";
  return fmt::format(", of target{} '{}'", fields.size() == 1 ? "" : "s",
                     fmt::join(fields, "', '"));
}

}  // namespace

// Where no trace has followed the batch, it goes through the model once more.
std::string Learner::WhyBroken(const TensorBatch& batch, const at::Tensor& scores,
                               const LayerTrace* trace) {
  const at::DisableRecordFunctionGuard unobserved;
  for (size_t i = 0; i < batch.input.all().size(); ++i) {
    const auto samples = SamplesNotFinite(batch.input.One(i), batch.size());
    if (samples.empty()) continue;
    const std::string which =
        input_names_.empty() ? "" : fmt::format(" (train.input.{})", input_names_[i]);
    return fmt::format("{}{} in {}", kInputNotFinite, which, row_names_(batch.key, samples));
  }
  if (const std::string name = FirstNotFinite(ParametersOf(*model_)); !name.empty()) {
    return fmt::format("the weights '{}' are not finite since a step before", name);
  }
  std::string layer = trace == nullptr ? std::string() : trace->FirstBroken();
  if (trace == nullptr) {
    const at::RecordFunctionGuard observed;
    const at::NoGradGuard no_grad;
    TrainingPass alone(TrainingPass::Now()->place());  // other ranks may not make it
    const LayerTrace again(*model_, LayerTrace::Values::kChecked);
    Forward(batch.input);
    layer = again.FirstBroken();
  }
  const std::string of_target = OfTargets(objective_.NotFiniteIn(scores, batch.target));
  if (layer.empty()) return "the loss itself is the first that is not finite" + of_target;
  const std::vector<int64_t> samples = RowsNotFinite(scores, batch.size());
  return fmt::format("{} is the first that is not finite{}{}", layer,
                     samples.empty() ? "" : ", in " + row_names_(batch.key, samples), of_target);
}

std::string Learner::WhyGradients() {
  NamedTensors gradients;
  for (const auto& [name, tensor] : ParametersOf(*model_)) {
    if (tensor.grad().defined()) gradients.push_back({name, ValuesOfGradient(tensor.grad())});
  }
  std::string why = fmt::format("the gradient of '{}' is not finite", FirstNotFinite(gradients));
  if (!layer_.empty()) why += fmt::format("; {} is the first that is not", layer_);
  return why;
}

// Another rank has ended what this one's pass waited for.
Status Learner::LeftBy(const Status& lost) {
  left_ = true;
  return lost;
}

// What torch says names neither layer nor sample nor what to do.
Status Learner::ExplainFailure(const Status& failure, const TensorBatch& batch,
                               const at::Tensor& scores) {
  if (failure.code() == StatusCode::kResourceExhausted) {
    return ExplainOutOfMemory(failure, batch.size(), FixedBytes());
  }
  if (!scores.defined()) return ExplainForward(failure, *model_, batch.input);
  if (scores.dim() == 2) {
    STOKER_RETURN_IF_ERROR(CheckTargets(objective_, batch, scores.size(1), row_names_));
  }
  return failure;
}

// Weights, gradients and the optimizer's state, which do not grow with the batch.
uint64_t Learner::FixedBytes() const {
  uint64_t bytes = 0;
  for (const at::Tensor& parameter : parameters_) bytes += 2 * parameter.nbytes();
  for (const auto& [name, tensor] : optimizer_->State()) bytes += tensor.nbytes();
  return bytes;
}

}  // namespace stoker
