#include "stoker/data/core/padded_fields.h"

namespace stoker {

std::optional<double> FindPadding(const Dataset& batches, std::string_view field) {
  const auto* const pads = dynamic_cast<const PadsFields*>(&batches.node());
  if (pads != nullptr) {
    if (const std::optional<double> found = pads->PaddingOf(field)) return found;
  }
  for (const Dataset& input : batches.node().inputs()) {
    if (const std::optional<double> found = FindPadding(input, field)) return found;
  }
  return std::nullopt;
}

}  // namespace stoker
