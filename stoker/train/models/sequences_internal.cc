#include "stoker/train/models/sequences_internal.h"

#include <c10/util/Exception.h>

#include "stoker/train/core/token_check.h"

namespace stoker {

at::Tensor TokensIn(const at::Tensor& input, const KnownTokens& known) {
  if (input.is_cpu()) {
    const Status status = CheckTokens(input, known, /*batch=*/{}, PlacesInBatch);
    TORCH_CHECK_VALUE(status.ok(), status.message());
  }
  return input.ne(known.padding);
}

}  // namespace stoker
