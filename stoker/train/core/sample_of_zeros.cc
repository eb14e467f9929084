#include "stoker/train/core/sample_of_zeros.h"

#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

namespace stoker {

Inputs SampleOfZeros(const ModelInput& input) {
  constexpr int64_t kLength = 4;  // of a sequence, which may have any length
  if (!input.parts.empty()) {
    Inputs parts;
    for (const ModelInput& part : input.parts) {
      const Inputs zeros = SampleOfZeros(part);
      parts.Add(zeros.all().front(), zeros.offsets(0));
    }
    return parts;
  }
  if (input.tokens) return at::zeros({1, kLength}, at::kLong);
  if (input.steps)
    return Inputs::WithOffsets(at::zeros({kLength, input.channels}),
                               at::tensor({int64_t{0}, kLength}));
  if (input.height == 1 && input.width == 1) return at::zeros({1, input.channels});
  return at::zeros({1, input.channels, input.height, input.width});
}

}  // namespace stoker
