// What targets are: the numbers that a model is to give.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/data/core/spec.h"

namespace stoker {

// What the numbers of a target mean. A loss says it (Loss::KindOf); what a prediction is, what of
// it can be right, and which metrics there are, follows.
enum class TargetKind {
  kClass,   // int64 [samples]: the number of the sample's class
  kShares,  // float [samples, outputs]: how much of each class it is, 1 in all
  kLabels,  // float [samples, outputs] or [samples] of one output: for each whether it holds, 0 to
            // 1
  kNumbers  // float [samples, outputs] or [samples] of one output: what the outputs should be
};

// "class numbers", "shares of classes", "labels", "numbers".
std::string_view TargetKindName(TargetKind kind);

// Of a batched field that FindFeederFields has let pass, or a tensor of such a target: whether it
// is one integer a sample, and how many numbers a sample has.
bool IsOneInteger(const Field& target);
int64_t NumbersASample(const Field& target);

// The batched field whose values `target` has, as TensorBatch holds them.
Field FieldOf(const at::Tensor& target, std::string name = "target");

// What each output should be, of the shape and type and on the device of `scores` [samples,
// outputs]: floating-point targets as they are; class numbers as 1 at the class and 0 elsewhere,
// or as themselves where there is one output. Throws c10::Error for a class that does not exist,
// and for a target with another number of values.
at::Tensor WantedScores(const at::Tensor& target, const at::Tensor& scores);

}  // namespace stoker
