// Loss: how wrong a batch of scores is; what training makes small.
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
//   scores  float, [samples, outputs], as the model gives them
//   target  of a form that KindOf takes, on the scores' device
// A loss of your own need only have Mean; it then takes class numbers, and predicts the class of
// the highest score.
class Loss {
 public:
  virtual ~Loss() = default;

  // What targets like those of `field` mean to it beside so many outputs of a model. Errors:
  // kInvalidArgument where it does not take them: what it takes, what there is, and what to change.
  //   field  batched: [samples] or [samples, numbers], as FindFeederFields lets pass
  virtual Result<TargetKind> KindOf(const Field& field, int64_t outputs) const;

  // How many classes so many outputs tell apart, where targets are class numbers; nothing where any
  // number will do.
  virtual std::optional<int64_t> Classes(int64_t outputs) const { return outputs; }

  // What is wrong with a sample's numbers, where targets are floating point and finite; empty where
  // nothing is.
  virtual std::string Objection(std::span<const float> /*numbers*/) const { return {}; }

  // The mean over the samples: a float scalar that can be differentiated. Throws c10::Error on
  // wrong shapes and classes that do not exist. Numbers that there is an Objection to give a mean
  // of no meaning: whoever reads batches has them checked (TargetCheckOf).
  virtual at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const = 0;

  // As Model::LaunchesAlike, of Mean and its backward pass.
  virtual bool LaunchesAlike() const { return false; }

  // The class that each sample is taken for, int64 [samples]: that of the highest score, unless the
  // loss gives the scores another meaning.
  virtual at::Tensor Predict(const at::Tensor& scores) const { return scores.argmax(1); }

  // How probable what targets of this kind tell is, [samples, classes or labels]: of classes the
  // softmax of the scores, unless the loss gives them another meaning. Not defined where the scores
  // are the answer itself, numbers.
  virtual at::Tensor Probabilities(const at::Tensor& scores, TargetKind kind) const;

  // What the mean was divided by, so that means of batches make the mean of them all: the samples,
  // or where classes have weights, the sum of theirs, for which a device is waited for.
  virtual double Weight(const at::Tensor& target) const {
    return static_cast<double>(target.size(0));
  }
};

// What is right and what was said, of the same shape: int64 [samples], the class (of shares that
// with the greatest), or [samples, labels], 1 where a label holds: a target above 0.5, a score
// above 0. Not defined where targets are numbers.
struct Answers {
  at::Tensor right, said;

  bool defined() const { return right.defined(); }
};
Answers AnswersTo(const Loss& loss, TargetKind kind, const at::Tensor& scores,
                  const at::Tensor& target);

// What is wrong with the target of `batch` for `loss` and so many outputs: its form, or the first
// sample, as `names` calls it, whose class does not exist (kDataLoss) or whose numbers are not
// finite or objected to (kOutOfRange). Ok where nothing is. Reads the target back from its device:
// for error messages.
Status CheckTarget(const Loss& loss, const TensorBatch& batch, int64_t outputs,
                   const RowNames& names);

// For FeederOptions::check_target: what CheckTarget says of the samples.
//   outputs  of the model; nothing where they are not known: then classes are not looked at
TargetCheck TargetCheckOf(std::shared_ptr<const Loss> loss, RowNames names,
                          std::optional<int64_t> outputs);

}  // namespace stoker
