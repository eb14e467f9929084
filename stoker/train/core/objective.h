// Objective: what a training minimises: the loss of the one target, or the weighted sum of those of
// several.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/device/feeder.h"
#include "stoker/device/inputs.h"
#include "stoker/run/recipe.h"
#include "stoker/run/registry.h"
#include "stoker/run/row_names.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/target.h"

namespace stoker {

// One target. Of several, each has some of the model's outputs: the first target's come first.
struct ObjectivePart {
  std::string field;  // of the target; empty where there is one
  std::shared_ptr<const Loss> loss;
  std::vector<MetricRegistry::Configured> metrics = {};
  std::optional<int64_t> outputs = {};  // of the model; nothing: all
  double weight = 1;                    // of its loss
};

// What the weights of samples count in (train.sample_weight, train.weighted_metrics).
enum class SampleWeights { kNone, kLosses, kLossesAndMetrics };

// Immutable, cheap to copy; concurrent calls are safe. `scores` are those of the model, float
// [samples, outputs]; `targets` are in the order of the parts, and where samples have weights,
// these are the last (TensorBatch::target). Functions throw c10::Error if there are not as many.
class Objective {
 public:
  // REQUIRES: at least one part; of several, each has `outputs`.
  explicit Objective(std::vector<ObjectivePart> parts,
                     SampleWeights sample_weights = SampleWeights::kNone)
      : parts_(std::move(parts)), sample_weights_(sample_weights) {}
  explicit Objective(std::shared_ptr<const Loss> only)
      : Objective({ObjectivePart{.field = {}, .loss = std::move(only)}}) {}

  const std::vector<ObjectivePart>& parts() const { return parts_; }
  bool of_several() const { return parts_.size() > 1; }
  // Whether samples have weights of their own, which multiply their losses.
  bool weighs_samples() const { return sample_weights_ != SampleWeights::kNone; }
  // Whether accuracy and metrics count samples by their weights too.
  bool weighs_metrics() const { return sample_weights_ == SampleWeights::kLossesAndMetrics; }
  // Returns how many tensors the targets and weights of a batch are.
  size_t NumTensors() const { return parts_.size() + (weighs_samples() ? 1 : 0); }

  // Returns how many of the model's `outputs` are those of each part. Errors: kInvalidArgument if
  // the model has not as many as the parts together, with what to set.
  Result<std::vector<int64_t>> OutputsOfParts(int64_t outputs) const;
  // Returns the scores of each part, contiguous. Throws c10::Error for another number of outputs.
  std::vector<at::Tensor> ScoresOfParts(const at::Tensor& scores) const;

  // Returns the mean of one part over the samples: a differentiable float scalar. Where samples
  // have weights, it is the sum of the weighted losses divided by Loss::Weight, the number of
  // samples or the sum of their class weights, whatever they weigh themselves: weights that are all
  // 1 change nothing.
  //   scores  those of the part
  at::Tensor MeanOfPart(size_t part, const at::Tensor& scores, const Targets& targets) const;

  // Returns the mean over the samples: a differentiable float scalar. Of several targets
  //
  //   sum over the targets of  weight * mean of its loss * Loss::Weight / samples,
  //
  // so that means of batches combine by their numbers of samples; where no class has a weight of
  // its own, the last factor is 1. Errors as Loss::Mean.
  at::Tensor Mean(const at::Tensor& scores, const Targets& targets) const;

  // Returns the fields of several targets whose losses are not finite: for error messages, since it
  // reads them back from their device.
  std::vector<std::string> NotFiniteIn(const at::Tensor& scores, const Targets& targets) const;

  // As Loss::Weight: the divisor of the mean.
  double Weight(const Targets& targets) const;

  // As Loss::LaunchesAlike.
  bool LaunchesAlike() const;

  // Returns the meaning of each target, for fields like `targets` and a model with `outputs`
  // outputs. Errors: those of Loss::KindOf, with the name of the target.
  Result<std::vector<TargetKind>> KindsOf(std::span<const Field> targets, int64_t outputs) const;

 private:
  void CheckCount(const Targets& targets) const;
  // Of one part, where samples have weights: a differentiable float scalar.
  at::Tensor WeightedSum(size_t part, const at::Tensor& scores, const Targets& targets) const;

  std::vector<ObjectivePart> parts_;
  SampleWeights sample_weights_;
};

// Returns the objective that `train` names; a loss whose target is transformed
// (transformed_target_internal.h) is around that of the recipe. Errors: those of the losses;
// kFailedPrecondition if something is to be learned and was not (run/learned_train.h).
Result<Objective> BuildObjective(const TrainRecipe& train);

// Checks the targets of `batch`, each as CheckTarget does, and the weights of samples. Reads them
// back from their device: for error messages.
Status CheckTargets(const Objective& objective, const TensorBatch& batch, int64_t outputs,
                    const RowNames& names);

// Returns the checks of samples for BatchChecks::targets, those of weights too.
//   outputs  of the model; nothing if unknown: then classes of the only target are not checked
std::vector<BatchCheck> TargetChecksOf(const Objective& objective, const RowNames& names,
                                       std::optional<int64_t> outputs);

}  // namespace stoker
