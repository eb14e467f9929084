#include "stoker/train/models/sequences_internal.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace stoker {

at::Tensor TokensIn(const at::Tensor& input, int64_t tokens, int64_t padding) {
  const at::Tensor there = input.ne(padding);
  if (!input.is_cpu()) return there;
  const at::Tensor wrong = there.logical_and(input.lt(0).logical_or(input.ge(tokens)));
  if (!wrong.any().item<bool>()) return there;
  const at::Tensor first = wrong.nonzero()[0];
  const auto row = first[0].item<int64_t>(), column = first[1].item<int64_t>();
  TORCH_CHECK_VALUE(
      false, fmt::format("sample {} of the batch has the token {}, and the model knows those from "
                         "0 to {} (`tokens`) and the padding {} (`padding`)",
                         row, input[row][column].item<int64_t>(), tokens - 1, padding));
}

}  // namespace stoker
