#include "stoker/data/core/padded_fields.h"

namespace stoker {

std::set<double> FindPaddings(const Dataset& batches, std::string_view field) {
  const auto* const pads = dynamic_cast<const PadsFields*>(&batches.node());
  if (pads != nullptr) {
    if (const std::optional<double> padding = pads->PaddingOf(field)) return {*padding};
  }
  std::set<double> found;
  for (const Dataset& input : batches.node().inputs()) found.merge(FindPaddings(input, field));
  return found;
}

}  // namespace stoker
