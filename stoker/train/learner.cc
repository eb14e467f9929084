#include "stoker/train/learner.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/clipping.h"
#include "stoker/train/parameters.h"
#include "stoker/train/precision.h"

namespace stoker {
namespace {

constexpr std::string_view kModelPrefix = "model.";
constexpr std::string_view kOptimizerPrefix = "optimizer.";
constexpr std::string_view kScalerPrefix = "scaler.";
constexpr std::string_view kAveragePrefix = "average.";
constexpr std::string_view kAveragingPrefix = "averaging.";

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

// Of the model's scores, with those of its auxiliary heads by their weights.
at::Tensor TrainingLoss(const Loss& objective, const TrainingScores& all,
                        const at::Tensor& target) {
  at::Tensor loss = objective.Mean(all.scores, target);
  for (const AuxiliaryScores& head : all.auxiliary) {
    loss = loss + head.weight * objective.Mean(head.scores, target);
  }
  return loss;
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

Learner::Learner(std::shared_ptr<Model> model, std::shared_ptr<const Loss> loss,
                 std::unique_ptr<Optimizer> optimizer, const TrainRecipe& recipe,
                 const Placement& placement, const SchedulePlan& plan)
    : model_(std::move(model)),
      objective_(std::move(loss)),
      optimizer_(std::move(optimizer)),
      clip_(recipe.clip),
      precision_(placement.precision),
      average_(recipe.average, plan, *model_),
      parameters_(model_->parameters()) {
  if (precision_ == Precision::kFloat16) scaler_.emplace(placement.device);
}

Result<std::unique_ptr<Learner>> Learner::Create(const Recipe& recipe, const ModelInput& input,
                                                 const Placement& placement,
                                                 const SchedulePlan& plan) {
  const auto seed = static_cast<uint64_t>(recipe.train.options.seed);
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                          BuildModel(recipe.model, input, seed, placement));
  STOKER_ASSIGN_OR_RETURN(const TrainedParameters parameters,
                          ParametersToTrain(*model, recipe.train));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                          recipe.train.optimizer.build(parameters));
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const Loss> loss, recipe.train.loss.build());
  return std::unique_ptr<Learner>(new Learner(std::move(model), std::move(loss),
                                              std::move(optimizer), recipe.train, placement, plan));
}

// Scores of 16 bits would make the loss coarse.
TrainingScores Learner::Forward(const at::Tensor& input) {
  const PrecisionScope scope(precision_, input.device().type());
  TrainingScores all = model_->ForwardToTrain(input);
  all.scores = all.scores.to(at::kFloat);
  for (AuxiliaryScores& head : all.auxiliary) head.scores = head.scores.to(at::kFloat);
  return all;
}

Status Learner::Backward(const TensorBatch& batch, int64_t batches) {
  at::Tensor scores;
  const Status status = CatchTorchErrors([&] {
    const TrainingScores all = Forward(batch.input);
    scores = all.scores;
    const at::Tensor loss = TrainingLoss(*objective_, all, batch.target);
    broken_ = broken_ || IsBroken(loss);
    // Of one batch only the ratio to itself would be asked for.
    const double weight = batches == 1 ? 1 : objective_->Weight(batch.target);
    if (!loss_.defined()) expected_ = weight * static_cast<double>(batches);
    // A batch's share of the step, as if all batches had the weight of the first.
    const at::Tensor share = batches == 1 ? loss : loss * (weight / expected_);
    if (!broken_) (scaler_ ? scaler_->Scale(share) : share).backward();
    AddLoss(loss.detach(), weight);
  });
  return status.ok() ? status : ExplainFailure(status, batch.target, scores);
}

void Learner::AddLoss(const at::Tensor& loss, double weight) {
  weight_ += weight;
  loss_ = loss_.defined() ? loss_.lerp(loss, weight / weight_) : loss;
}

// Where batches had not all the weight of the first, gradients were divided by the wrong number.
void Learner::WeighGradients() {
  if (weight_ == expected_) return;
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) parameter.mutable_grad().mul_(expected_ / weight_);
  }
}

// False where the step must be skipped.
Result<bool> Learner::Unscale() {
  if (broken_ || !scaler_) return !broken_;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] { scaler_->Unscale(parameters_); }));
  return scaler_->Update();
}

Result<at::Tensor> Learner::Update(const ScheduleValue& now, int64_t step) {
  STOKER_ASSIGN_OR_RETURN(const bool move, Unscale());
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    if (move) {
      WeighGradients();
      ClipGradients(clip_, parameters_);
      optimizer_->Step(now);
      average_.Observe(step);
    }
    ClearGradients();
  }));
  weight_ = 0;
  broken_ = false;
  return std::exchange(loss_, at::Tensor());
}

Result<at::Tensor> Learner::Step(const TensorBatch& batch, const ScheduleValue& now, int64_t step) {
  STOKER_RETURN_IF_ERROR(Backward(batch));
  return Update(now, step);
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
  std::ranges::move(optimizer, std::back_inserter(arrays));
  if (scaler_) {
    STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> scaler,
                            ToNamedArrays(scaler_->State(), kScalerPrefix));
    std::ranges::move(scaler, std::back_inserter(arrays));
  }
  if (!average_.kept()) return arrays;
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> averages,
                          ToNamedArrays(average_.Averages(), kAveragePrefix));
  std::ranges::move(averages, std::back_inserter(arrays));
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> updates,
                          ToNamedArrays({{"updates", average_.updates()}}, kAveragingPrefix));
  std::ranges::move(updates, std::back_inserter(arrays));
  return arrays;
}

Status Learner::Restore(std::span<const NamedArray> arrays, std::string_view source) {
  STOKER_RETURN_IF_ERROR(CopyArraysInto(StateOf(*model_), arrays, kModelPrefix, source));
  STOKER_RETURN_IF_ERROR(CopyArraysInto(optimizer_->State(), arrays, kOptimizerPrefix, source));
  const auto holds = [&](std::string_view prefix) {
    return std::ranges::any_of(
        arrays, [&](const NamedArray& array) { return array.name.starts_with(prefix); });
  };
  // A run may have begun in another precision, or without averages.
  if (scaler_ && holds(kScalerPrefix)) {
    STOKER_RETURN_IF_ERROR(CopyArraysInto(scaler_->State(), arrays, kScalerPrefix, source));
  }
  if (!average_.kept() || !holds(kAveragePrefix)) return OkStatus();
  STOKER_RETURN_IF_ERROR(CopyArraysInto(average_.Averages(), arrays, kAveragePrefix, source));
  return CopyArraysInto({{"updates", average_.updates()}}, arrays, kAveragingPrefix, source);
}

}  // namespace stoker
