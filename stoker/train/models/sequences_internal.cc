#include "stoker/train/models/sequences_internal.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "stoker/train/core/token_check.h"

namespace stoker {

at::Tensor TokensIn(const Inputs& one, const KnownTokens& known) {
  const at::Tensor& values = one.all().front();
  if (values.is_cpu()) {
    const RowNames places = [](const SampleKey&, std::span<const int64_t> rows) {
      return fmt::format("sample {} of the batch", rows.front());
    };
    const Status status = CheckTokens(one, known, /*batch=*/{}, places);
    TORCH_CHECK_VALUE(status.ok(), status.message());
  }
  return values.ne(known.padding);
}

}  // namespace stoker
