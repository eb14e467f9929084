#include "stoker/data/ops/batching_internal.h"

namespace stoker {

Cardinality BatchedCardinality(const Cardinality& input, int64_t size, bool drop_remainder) {
  if (!input.known()) return input;
  const int64_t full = input.value() / size;
  const bool ragged = input.value() % size != 0;
  return Cardinality::Of(full + (ragged && !drop_remainder ? 1 : 0));
}

int64_t BatchExtent(const Cardinality& input, int64_t size, bool drop_remainder) {
  const bool always_full =
      drop_remainder || input.infinite() || (input.known() && input.value() % size == 0);
  return always_full ? size : kUnknownDim;
}

}  // namespace stoker
