#include "stoker/train/losses/target_forms_internal.h"

#include "stoker/train/target.h"

namespace stoker {

Status CheckNumberForEachOutput(std::string_view takes, const Field& target, int64_t outputs) {
  const int64_t numbers = NumbersASample(target);
  if (numbers == outputs) return OkStatus();
  return InvalidArgument(
      "it takes {}; {} has {} a sample, and the model {} outputs; set the model's `classes` to {}",
      takes, target.ToString(), numbers, outputs, numbers);
}

}  // namespace stoker
