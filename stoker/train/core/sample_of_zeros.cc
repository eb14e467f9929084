#include "stoker/train/core/sample_of_zeros.h"

#include <ATen/ops/zeros.h>

#include <utility>
#include <vector>

namespace stoker {

Inputs SampleOfZeros(const ModelInput& input) {
  constexpr int64_t kTokens = 4;  // of a sequence, which may have any length
  if (!input.parts.empty()) {
    std::vector<at::Tensor> parts;
    for (const ModelInput& part : input.parts) parts.push_back(SampleOfZeros(part).only());
    return Inputs(std::move(parts));
  }
  if (input.tokens) return at::zeros({1, kTokens}, at::kLong);
  if (input.height == 1 && input.width == 1) return at::zeros({1, input.channels});
  return at::zeros({1, input.channels, input.height, input.width});
}

}  // namespace stoker
