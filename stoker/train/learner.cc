#include "stoker/train/learner.h"

#include <ATen/ops/isfinite.h>
#include <torch/utils.h>

#include <cmath>

#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/losses.h"

namespace stoker {
namespace {

constexpr std::string_view kModelPrefix = "model.";
constexpr std::string_view kOptimizerPrefix = "optimizer.";

// torch's Module::to knows no layouts.
void SetLayout(Model& model, at::MemoryFormat format) {
  for (at::Tensor& parameter : model.parameters()) {
    if (parameter.dim() == 4) parameter.set_data(InLayout(parameter.detach(), format));
  }
}

// What torch says about a wrong class number names neither the sample nor what to do.
Status ExplainFailure(Status failure, const at::Tensor& target, const at::Tensor& scores) {
  if (scores.defined() && scores.dim() == 2) {
    STOKER_RETURN_IF_ERROR(CheckTarget(target, scores.size(1)));
  }
  return failure;
}

bool IsBroken(const at::Tensor& loss) {
  return loss.is_cpu() && !std::isfinite(loss.item<double>());
}

}  // namespace

at::MemoryFormat ToTorch(MemoryFormat format) {
  return format == MemoryFormat::kChannelsLast ? at::MemoryFormat::ChannelsLast
                                               : at::MemoryFormat::Contiguous;
}

Result<std::shared_ptr<Model>> BuildModel(const ModelRegistry::Configured& configured,
                                          const ModelInput& input, uint64_t seed,
                                          const Placement& placement) {
  std::shared_ptr<Model> model;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    torch::manual_seed(seed);
    // Made on the CPU, so that equal seeds give equal weights on every device.
    STOKER_ASSIGN_OR_RETURN(model, configured.build(input));
    model->to(placement.device);
    SetLayout(*model, ToTorch(placement.memory_format));
    return OkStatus();
  }));
  return model;
}

Learner::Learner(std::shared_ptr<Model> model, std::unique_ptr<Optimizer> optimizer)
    : model_(std::move(model)),
      optimizer_(std::move(optimizer)),
      parameters_(model_->parameters()) {}

Result<std::unique_ptr<Learner>> Learner::Create(const Recipe& recipe, const ModelInput& input,
                                                 const Placement& placement) {
  const auto seed = static_cast<uint64_t>(recipe.train.options.seed);
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                          BuildModel(recipe.model, input, seed, placement));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                          recipe.train.optimizer.build(ParametersOf(*model)));
  return std::unique_ptr<Learner>(new Learner(std::move(model), std::move(optimizer)));
}

Result<at::Tensor> Learner::Step(const TensorBatch& batch, const ScheduleValue& now) {
  at::Tensor scores, loss;
  const Status status = CatchTorchErrors([&] {
    scores = model_->Forward(batch.input);
    loss = CrossEntropy(scores, batch.target);
    if (IsBroken(loss)) return;
    loss.backward();
    optimizer_->Step(now);
    ClearGradients();
  });
  if (!status.ok()) return ExplainFailure(status, batch.target, scores);
  return loss.detach();
}

// Set to nothing instead of zero: the next backward pass then moves its results in, without adding.
void Learner::ClearGradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

Status Learner::CheckFinite() const {
  Status broken;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    for (const auto& [name, tensor] : StateOf(*model_)) {
      if (!tensor.is_floating_point() || at::isfinite(tensor).all().item<bool>()) continue;
      broken = FailedPrecondition("the weights '{}' are no longer finite", name);
      return;
    }
  }));
  return broken;
}

Result<std::vector<NamedArray>> Learner::Save() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays,
                          ToNamedArrays(StateOf(*model_), kModelPrefix));
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> optimizer,
                          ToNamedArrays(optimizer_->State(), kOptimizerPrefix));
  std::move(optimizer.begin(), optimizer.end(), std::back_inserter(arrays));
  return arrays;
}

Status Learner::Restore(std::span<const NamedArray> arrays, std::string_view source) {
  STOKER_RETURN_IF_ERROR(CopyArraysInto(StateOf(*model_), arrays, kModelPrefix, source));
  return CopyArraysInto(optimizer_->State(), arrays, kOptimizerPrefix, source);
}

}  // namespace stoker
