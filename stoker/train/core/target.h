// Targets: the numbers that a model should predict.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/data/core/spec.h"

namespace stoker {

// The meaning of a target's numbers, which the loss defines (Loss::KindOf). Predictions, accuracy
// and metrics depend on it.
enum class TargetKind {
  kClass,   // int64 [samples]: the number of the sample's class
  kShares,  // float [samples, outputs]: the share of each class, which sum to 1
  kLabels,  // float [samples, outputs] or [samples] of one output: whether each applies, 0 to
            // 1
  kNumbers  // float [samples, numbers] or [samples], for some losses also int64 [samples]: what
            // the model should say, one number for each output unless the loss counts otherwise
};

// "class numbers", "shares of classes", "labels", "numbers".
std::string_view TargetKindName(TargetKind kind);

// For a batched field accepted by FindFeederFields, or a tensor of such a target: return whether it
// is one integer a sample, and how many numbers a sample has.
bool IsOneInteger(const Field& target);
int64_t NumbersASample(const Field& target);

// Returns the form of targets as weights keep it: "integers" or "numbers", of several
// "integers,numbers".
std::string FormOf(std::span<const Field> targets);

// Returns the batched field of `target`, a target of TensorBatch.
Field FieldOf(const at::Tensor& target, std::string name = "target");

// Returns the wanted outputs, with the shape, type and device of `scores` [samples, outputs]:
// floating-point targets unchanged; class numbers as 1 at the class and 0 elsewhere, or the number
// itself if there is one output. Throws c10::Error for an invalid class, and for a target with
// another number of values.
at::Tensor WantedScores(const at::Tensor& target, const at::Tensor& scores);

}  // namespace stoker
