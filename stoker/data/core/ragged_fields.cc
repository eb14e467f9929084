#include "stoker/data/core/ragged_fields.h"

namespace stoker {

std::optional<std::string> FindOffsets(const Dataset& batches, std::string_view field) {
  const auto* const ragged = dynamic_cast<const RaggedFields*>(&batches.node());
  if (ragged != nullptr) {
    if (std::optional<std::string> offsets = ragged->OffsetsOf(field)) return offsets;
  }
  for (const Dataset& input : batches.node().inputs()) {
    if (std::optional<std::string> offsets = FindOffsets(input, field)) return offsets;
  }
  return std::nullopt;
}

}  // namespace stoker
