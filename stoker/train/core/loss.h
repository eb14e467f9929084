// Loss: the error of a batch of scores, which training minimises.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/device/feeder.h"
#include "stoker/run/row_names.h"
#include "stoker/train/core/target.h"

namespace stoker {

// Immutable; concurrent calls are safe.
//   scores  float, [samples, outputs], from the model
//   target  of a form that KindOf accepts, on the scores' device
// Your own loss needs only Mean; it then takes class numbers, and predicts the class of the highest
// score.
class Loss {
 public:
  virtual ~Loss() = default;

  // Returns the meaning of targets like those of `field` for a model with `outputs` outputs.
  // Errors: kInvalidArgument if it does not accept them: what it accepts, what there is, and what
  // to change.
  //   field  batched: [samples] or [samples, numbers], as accepted by FindFeederFields
  virtual Result<TargetKind> KindOf(const Field& field, int64_t outputs) const;

  // Returns how many classes `outputs` outputs distinguish, if targets are class numbers; nothing
  // if any number is valid.
  virtual std::optional<int64_t> Classes(int64_t outputs) const { return outputs; }

  // Where targets are numbers: returns how many a sample has for a model with `outputs` outputs.
  virtual int64_t NumbersFor(int64_t outputs) const { return outputs; }

  // Returns the error in a sample's numbers, for finite floating-point targets; empty if there is
  // none.
  virtual std::string Objection(std::span<const float> /*numbers*/) const { return {}; }

  // Returns the mean over the samples: a differentiable float scalar. Throws c10::Error on wrong
  // shapes and invalid classes. Numbers with an Objection give a meaningless mean: the reader of
  // batches checks them (TargetCheckOf).
  virtual at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const = 0;

  // Returns the loss of each sample, a differentiable float [samples] whose sum is Mean times
  // Weight: training needs it where samples have weights (train.sample_weight). This one calls Mean
  // with one sample after the other: that is slow, and wrong for a loss that compares samples with
  // each other. Errors as Mean.
  virtual at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const;

  // As Model::LaunchesAlike, for Mean, OfSamples, their backward passes and, beside other targets
  // or weights of samples, Weight.
  virtual bool LaunchesAlike() const { return false; }

  // Returns the predicted class of each sample, int64 [samples]: that of the highest score, unless
  // the loss gives the scores another meaning.
  virtual at::Tensor Predict(const at::Tensor& scores) const { return scores.argmax(1); }

  // Returns the probabilities for targets of this kind, [samples, classes or labels]: for classes
  // the softmax of the scores, unless the loss gives them another meaning. Undefined for numbers.
  virtual at::Tensor Probabilities(const at::Tensor& scores, TargetKind kind) const;

  // Where targets are numbers: returns the scores in the target's units, [samples, outputs], which
  // is what predictions give.
  virtual at::Tensor InUnitsOfTarget(const at::Tensor& scores) const { return scores; }

  // Of these the estimate of each number of the target, [samples, NumbersFor(outputs)], which is
  // what metrics compare with it.
  virtual at::Tensor Estimates(const at::Tensor& scores) const { return InUnitsOfTarget(scores); }

  // Returns the divisor of the mean, to combine means of batches: the number of samples, or the sum
  // of their class weights, which waits for the device.
  virtual double Weight(const at::Tensor& target) const {
    return static_cast<double>(target.size(0));
  }
};

// The right and the predicted answers, of the same shape: int64 [samples], the class (for shares
// the one with the greatest), or [samples, labels], 1 if a label applies: a target above 0.5, a
// score above 0. Undefined for numbers.
struct Answers {
  at::Tensor right, said;

  bool defined() const { return right.defined(); }
};
Answers AnswersTo(const Loss& loss, TargetKind kind, const at::Tensor& scores,
                  const at::Tensor& target);

// Checks `target`, that of the batch `key`, for `loss` and `outputs` outputs: its form, and each
// sample, which `names` names, for an invalid class (kDataLoss) or numbers that are not finite or
// have an Objection (kOutOfRange). Reads the target back from its device: for error messages.
Status CheckTarget(const Loss& loss, const at::Tensor& target, const SampleKey& key,
                   int64_t outputs, const RowNames& names);

// Returns CheckTarget's check of samples.
//   outputs  of the model; nothing if unknown: then classes are not checked
BatchCheck TargetCheckOf(std::shared_ptr<const Loss> loss, RowNames names,
                         std::optional<int64_t> outputs);

// What float32, in which losses are computed, holds with room for sums.
inline constexpr double kMostWeight = 1e30;

// Checks the weights of samples, float [samples], on any device: kOutOfRange with the first sample
// whose weight is not from 0 to kMostWeight.
Status CheckSampleWeights(const at::Tensor& weights, const SampleKey& batch, const RowNames& names);

}  // namespace stoker
