#include "stoker/train/step/learner.h"

#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "stoker/base/trace.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"
#include "stoker/device/torch_threads.h"
#include "stoker/run/build_kind.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/core/precision.h"
#include "stoker/train/core/row_gradient.h"
#include "stoker/train/core/training_pass.h"
#include "stoker/train/kernels/table_rows.h"
#include "stoker/train/step/clipping.h"
#include "stoker/train/step/finiteness.h"
#include "stoker/train/step/gradient_norm.h"
#include "stoker/train/step/layer_trace.h"
#include "stoker/train/step/learner_optimizer.h"
#include "stoker/train/step/random_state.h"

namespace stoker {
namespace {

// The draws of a pass that is none of the step's batches.
constexpr int64_t kOwnPart = -1;

// torch's Module::to knows no layouts.
void SetLayout(Model& model, at::MemoryFormat format) {
  for (at::Tensor& parameter : model.parameters()) {
    if (parameter.dim() == 4) parameter.set_data(InLayout(parameter.detach(), format));
  }
}

std::vector<at::Tensor> CopiesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.detach().clone());
  return copies;
}

void CopyInto(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
}

// The loss of the model's scores, plus those of its auxiliary heads by their weights.
at::Tensor TrainingLoss(const Objective& objective, const TrainingScores& all,
                        const Targets& targets) {
  at::Tensor loss = objective.Mean(all.scores, targets);
  for (const AuxiliaryScores& head : all.auxiliary) {
    loss = loss + head.weight * objective.Mean(head.scores, targets);
  }
  return loss;
}

// Zero, for a pass that other ranks wait for.
at::Tensor NoLoss(const TrainingScores& all) {
  at::Tensor loss = all.scores.sum() * 0;
  for (const AuxiliaryScores& head : all.auxiliary) loss = loss + head.scores.sum() * 0;
  return loss;
}

bool IsFinite(const at::Tensor& loss) { return std::isfinite(loss.item<double>()); }

}  // namespace

at::MemoryFormat ToTorch(MemoryFormat format) {
  return format == MemoryFormat::kChannelsLast ? at::MemoryFormat::ChannelsLast
                                               : at::MemoryFormat::Contiguous;
}

Result<std::shared_ptr<Model>> BuildModel(const ModelRegistry::Configured& configured,
                                          const ModelInput& input, uint64_t seed,
                                          const Placement& placement) {
  STOKER_RETURN_IF_ERROR(CheckTorchThreads());  // it is the first that torch computes
  std::shared_ptr<Model> model;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    torch::manual_seed(seed);
    // Made on the CPU, so that equal seeds give equal weights on every device.
    STOKER_ASSIGN_OR_RETURN(model, BuildKind(configured, input));
    model->to(placement.device);
    SetLayout(*model, ToTorch(placement.memory_format));
    return OkStatus();
  }));
  return model;
}

Status ExplainForward(const Status& failure, Model& model, const Inputs& inputs) {
  const at::NoGradGuard no_grad;
  const LayerTrace trace(model, LayerTrace::Values::kIgnored);
  const Status again = CatchTorchErrors([&] { model.ForwardAllToTrain(inputs); });
  if (again.ok()) return failure;
  return {failure.code(), fmt::format("in {}, with {} of {}: {}", trace.LastOperator(),
                                      inputs.all().size() == 1 ? "an input" : "inputs",
                                      inputs.ShapesText(), failure.message())};
}

Learner::Learner(std::shared_ptr<Model> model, Objective objective,
                 std::unique_ptr<Optimizer> optimizer, const TrainRecipe& recipe,
                 const Placement& placement, const SchedulePlan& plan)
    : model_(std::move(model)),
      objective_(std::move(objective)),
      optimizer_(std::move(optimizer)),
      sharded_(dynamic_cast<ShardedOptimizer*>(optimizer_.get())),
      clip_(recipe.clip),
      seed_(static_cast<uint64_t>(recipe.options.seed)),
      precision_(placement.precision),
      average_(recipe.average, plan, *model_),
      parameters_(model_->parameters()) {
  if (precision_ == Precision::kFloat16) scaler_.emplace(placement.device);
}

Result<std::unique_ptr<Learner>> Learner::Create(const Recipe& recipe, const ModelInput& input,
                                                 const Placement& placement,
                                                 const SchedulePlan& plan,
                                                 const JoinedRanks& ranks) {
  const auto seed = static_cast<uint64_t>(recipe.train.options.seed);
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                          BuildModel(recipe.model, input, seed, placement));
  STOKER_RETURN_IF_ERROR(
      model->CheckpointActivations(recipe.train.options.activation_checkpointing)
          .While(fmt::format("reading {}", recipe.train.NameOf("activation_checkpointing"))));
  STOKER_ASSIGN_OR_RETURN(const TrainedParameters parameters,
                          ParametersToTrain(*model, recipe.train));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Optimizer> optimizer,
                          BuildOptimizer(recipe.train, parameters, ranks.group));
  STOKER_ASSIGN_OR_RETURN(Objective objective, BuildObjective(recipe.train));
  std::unique_ptr<Learner> learner(new Learner(
      std::move(model), std::move(objective), std::move(optimizer), recipe.train, placement, plan));
  for (const ModelInput& part : input.parts) learner->input_names_.push_back(part.name);
  STOKER_ASSIGN_OR_RETURN(learner->of_rows_,
                          ChooseGradients(recipe.train, *learner->optimizer_, *learner->model_,
                                          placement.device, ranks.group));
  if (learner->of_rows_) {
    for (const auto& [name, tensor] : learner->State()) PreferHugePages(tensor);
  }
  if (ranks.group != nullptr) {
    learner->ranks_ = std::make_unique<StepRanks>(*ranks.group, *learner->model_,
                                                  recipe.train.distributed, ranks.divisor);
  }
  return learner;
}

// Scores of 16 bits would make the loss coarse.
TrainingScores Learner::Forward(const Inputs& inputs) {
  const TraceSpan span("forward");
  const PrecisionScope scope(precision_, inputs.device().type());
  TrainingScores all = model_->ForwardAllToTrain(inputs);
  all.scores = all.scores.to(at::kFloat);
  for (AuxiliaryScores& head : all.auxiliary) head.scores = head.scores.to(at::kFloat);
  return all;
}

Status Learner::Backward(const TensorBatch& batch, int64_t batches) {
  const int64_t part = ++parts_;
  const Result<int64_t> first_row =
      ranks_ ? ranks_->FirstRow(batch.size(), step_) : Result<int64_t>(0);
  if (!first_row.ok()) return LeftBy(first_row.status());
  at::Tensor scores;
  TrainingPass pass(
      {.seed = seed_, .step = step_, .part = batches_before_ + part, .first_row = *first_row},
      ranks_ ? ranks_->norms() : nullptr);
  const Status status = CatchTorchErrors([&]() -> Status {
    if (checks_.gradients && part == 1) buffers_before_ = CopiesOf(model_->buffers());
    if (ranks_ && ranks_->exchange() && part == batches)
      ranks_->exchange()->Begin(step_, scaler_ ? scaler_->scale() : 1);
    if (ranks_ && batch.size() == 0 && !ranks_->norms()) return OkStatus();
    if (!ranks_ && batches == 1 && !checks_.layers && BackwardByGraph(batch)) return OkStatus();
    std::optional<LayerTrace> trace;
    if (checks_.layers) trace.emplace(*model_, LayerTrace::Values::kChecked);
    BackwardLoss(batch, batches, scores, trace ? &*trace : nullptr);
    if (trace && layer_.empty()) layer_ = trace->FirstBroken();
    return ranks_ ? ranks_->CheckNorms(pass.norms()) : OkStatus();
  });
  if (!pass.lost().ok()) return LeftBy(pass.lost());
  return status.ok() ? status : ExplainFailure(status, batch, scores);
}

void Learner::UseGraph(std::unique_ptr<DeviceGraph> graph) {
  graphed_.emplace(std::move(graph), [this](const TensorBatch& batch) { return WholePass(batch); });
}

// The loss and the gradients, without any from before.
DeviceGraph::Tensors Learner::WholePass(const TensorBatch& batch) {
  ClearGradients();
  const at::Tensor loss = TrainingLoss(objective_, Forward(batch.input), batch.target);
  BackwardFrom(loss);
  DeviceGraph::Tensors results = {loss.detach()};
  for (const at::Tensor& parameter : parameters_) results.push_back(parameter.grad());
  return results;
}

// False if the batch must be put through in the usual way.
bool Learner::BackwardByGraph(const TensorBatch& batch) {
  if (!graphed_) return false;
  const std::optional<DeviceGraph::Tensors> results = [&] {
    const TraceSpan span("recorded pass");
    return graphed_->Run(batch);
  }();
  if (!results) {
    ClearGradients();  // of a recording that failed
    return false;
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].mutable_grad() = (*results)[i + 1];
  }
  expected_ = 1;
  AddLoss(results->front().clone(), 1);
  return true;
}

void Learner::BackwardFrom(const at::Tensor& loss) {
  const TraceSpan span("backward");
  (scaler_ ? scaler_->Scale(loss) : loss).backward();
  if (of_rows_) JoinRows(parameters_);
}

void Learner::BackwardLoss(const TensorBatch& batch, int64_t batches, at::Tensor& scores,
                           const LayerTrace* trace) {
  if (!broken_) why_.clear();
  const TrainingScores all = Forward(batch.input);
  scores = all.scores;
  // For one batch the ratio would be that to itself.
  const bool whole = batches == 1 && !ranks_;
  const double weight = whole ? 1 : objective_.Weight(batch.target);
  // The mean over such samples has no value; with those of other ranks it may have one.
  if (ranks_ && weight == 0) {
    if (ranks_->norms()) BackwardFrom(NoLoss(all));
    return;
  }
  const at::Tensor loss = [&] {
    const TraceSpan span("loss");
    return TrainingLoss(objective_, all, batch.target);
  }();
  // A device is waited for only where it is anyway.
  const bool read = loss.is_cpu() || checks_.gradients;
  if (read && !broken_ && !IsFinite(loss)) {
    broken_ = true;
    why_ = fmt::format("the loss is {}; {}", std::isnan(loss.item<double>()) ? "nan" : "inf",
                       WhyBroken(batch, scores, trace));
  }
  if (ranks_)
    expected_ = ranks_->divisor();
  else if (!loss_.defined())
    expected_ = weight * static_cast<double>(batches);
  // A batch's share of the step, as if all batches had the weight of the first.
  const at::Tensor share = whole ? loss : loss * (weight / expected_);
  // Other ranks may wait for this one's pass, whatever comes of it.
  if (!broken_ || (ranks_ && ranks_->norms())) BackwardFrom(share);
  AddLoss(loss.detach(), weight);
}

void Learner::AddLoss(const at::Tensor& loss, double weight) {
  weight_ += weight;
  loss_ = loss_.defined() ? loss_.lerp(loss, weight / weight_) : loss;
}

// Where batches had not all the weight of the first, gradients were divided by the wrong number.
void Learner::WeighGradients() {
  if (weight_ == expected_) return;
  const at::NoGradGuard no_grad;
  for (at::Tensor& gradient : GradientValues(parameters_)) gradient.mul_(expected_ / weight_);
}

// What becomes of a step whose losses are finite, as far as they were read.
StepOutcome Learner::Judge() {
  if (scaler_) {
    scaler_->Unscale(parameters_);
    if (!scaler_->finite()) return JudgeOverflow();
    scaler_->Update(/*finite=*/true);
  } else if (checks_.gradients && !GradientsAreFinite(parameters_)) {
    why_ = WhyGradients();
    return StepOutcome::kBroken;
  } else if (checks_.gradients && !IsFinite(loss_)) {  // of a pass recorded on a device
    why_ = "the loss is not finite";
    return StepOutcome::kBroken;
  }
  return StepOutcome::kMoved;
}

// A lower scale is the cure of gradients that overflow, but not of a loss, which is not scaled yet,
// nor of gradients that overflow at any scale.
StepOutcome Learner::JudgeOverflow() {
  if (!IsFinite(loss_)) {
    why_ = "the loss is not finite";
    return StepOutcome::kBroken;
  }
  if (scaler_->Update(/*finite=*/false) == GradScaler::Verdict::kSkip) return StepOutcome::kScaled;
  why_ = fmt::format(
      "{}, in float16, although the loss was scaled by as little as {:.3g}; precision bf16 or "
      "float32 would not overflow",
      WhyGradients(), scaler_->scale());
  return StepOutcome::kBroken;
}

// Where a rank makes steps of its own, one without samples has nothing to follow.
void Learner::Move(const ScheduleValue& now, int64_t step) {
  if (!local() || weight_ > 0) {
    WeighGradients();
    ClipGradients(clip_, parameters_);
    optimizer_->Step(now);
  }
  average_.Observe(step);
  if (local())
    ranks_->local()->Note(weight_, weight_of_all_);
  else
    JudgeWeights();
}

void Learner::JudgeWeights() {
  if (!checks_.gradients) return;
  const std::string broken = FirstNotFinite(StateOf(*model_));
  if (broken.empty()) return;
  outcome_ = StepOutcome::kBrokeWeights;
  why_ = fmt::format("it has moved the weights '{}' to values that are not finite", broken);
}

Result<at::Tensor> Learner::Update(const ScheduleValue& now, int64_t step) {
  const TraceSpan span("optimizer");
  const Status updated = CatchTorchErrors([&] {
    if (!broken_) why_.clear();
    outcome_ = broken_ ? StepOutcome::kBroken : Judge();
    if (outcome_ == StepOutcome::kMoved) Move(now, step);
    if (outcome_ == StepOutcome::kBroken && checks_.gradients) {
      CopyInto(model_->buffers(), buffers_before_);
    }
    ClearGradients();
  });
  if (sharded_ != nullptr) STOKER_RETURN_IF_ERROR(sharded_->lost());
  STOKER_RETURN_IF_ERROR(updated);
  weight_ = 0;
  parts_ = 0;
  layer_.clear();
  broken_ = false;
  step_ = step + 1;
  return std::exchange(loss_, at::Tensor());
}

Result<at::Tensor> Learner::Step(const TensorBatch& batch, const ScheduleValue& now, int64_t step) {
  BeginStep(step);
  STOKER_RETURN_IF_ERROR(Backward(batch));
  return Update(now, step);
}

// Set to nothing instead of zero: the next backward pass then moves its results in, without adding.
void Learner::ClearGradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

Result<double> Learner::SquaredGradientOf(const TensorBatch& batch) {
  const c10::Device device = batch.input.device();
  const Json random = SaveRandomState(device);
  std::vector<at::Tensor> before;
  double squared = 0;
  const Status status = CatchTorchErrors([&] {
    before = CopiesOf(model_->buffers());
    TrainingPass pass({.seed = seed_, .step = step_, .part = kOwnPart});
    const at::Tensor loss = TrainingLoss(objective_, Forward(batch.input), batch.target);
    std::vector<at::Tensor> trained;
    for (const at::Tensor& parameter : parameters_) {
      if (parameter.requires_grad()) trained.push_back(parameter);
    }
    const double scale = scaler_ ? scaler_->scale() : 1;
    squared = SumOfSquares(torch::autograd::grad({scaler_ ? scaler_->Scale(loss) : loss}, trained,
                                                 /*grad_outputs=*/{}, /*retain_graph=*/{},
                                                 /*create_graph=*/false, /*allow_unused=*/true)) /
              (scale * scale);
    CopyInto(model_->buffers(), before);
  });
  STOKER_RETURN_IF_ERROR(RestoreRandomState(random, device));
  return status.ok() ? Result<double>(squared) : ExplainFailure(status, batch, at::Tensor());
}

}  // namespace stoker
