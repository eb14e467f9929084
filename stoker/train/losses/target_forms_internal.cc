#include "stoker/train/losses/target_forms_internal.h"

namespace stoker {

Result<TargetKind> ClassOrNumberForEachOutput(std::string_view takes, TargetKind numbers,
                                              const Field& target, int64_t outputs) {
  if (IsOneInteger(target)) return TargetKind::kClass;
  const int64_t there = NumbersASample(target);
  if (there == outputs) return numbers;
  return InvalidArgument(
      "it takes {}; {} has {} a sample, and the model {} outputs; set the model's `classes` to {}",
      takes, target.ToString(), there, outputs, there);
}

}  // namespace stoker
