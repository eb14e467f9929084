#include "stoker/train/models/sequences_internal.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "stoker/train/core/token_check.h"

namespace stoker {

at::Tensor TokensIn(const at::Tensor& input, const KnownTokens& known) {
  if (input.is_cpu()) {
    const RowNames places = [](const SampleKey&, std::span<const int64_t> rows) {
      return fmt::format("sample {} of the batch", rows.front());
    };
    const Status status = CheckTokens(input, known, /*batch=*/{}, places);
    TORCH_CHECK_VALUE(status.ok(), status.message());
  }
  return input.ne(known.padding);
}

}  // namespace stoker
