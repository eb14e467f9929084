#include "stoker/data/core/check_key.h"

namespace stoker {

Status CheckKey(const DatasetNode& node, const SampleKey& key) {
  // Infinite is larger than every position.
  if (key.index >= 0 && key.index < node.cardinality().value()) return OkStatus();
  return OutOfRange(
      "{}: element {} is to be read again, but there are {} elements; have the data changed?",
      node.name(), key.index, node.cardinality().ToString());
}

}  // namespace stoker
