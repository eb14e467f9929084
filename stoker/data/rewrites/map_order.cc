#include "stoker/data/rewrites/map_order.h"

#include "stoker/data/nodes/map.h"

namespace stoker {
namespace {

bool IsMap(const DatasetNode& node) { return !node.random_access() && IsMapDataset(node); }

bool GrowsElements(const DatasetNode& map) {
  const std::optional<int64_t> before = map.input().spec().ElementBytes();
  const std::optional<int64_t> after = map.spec().ElementBytes();
  return before && after && *after > *before;
}

bool IsMovableAndGrows(const DatasetNode& node) {
  return IsMap(node) && GrowsElements(node) &&
         dynamic_cast<const MovableTransform*>(node.element_wise()) != nullptr;
}

Result<Dataset> BuildBelow(std::string_view name, Dataset input, const BuildOver& build,
                           bool (*moves)(const DatasetNode&)) {
  const DatasetNode& map = input.node();
  if (!moves(map)) return build(std::move(input));
  STOKER_ASSIGN_OR_RETURN(Dataset below, BuildBelow(name, map.input(), build, moves));
  return MapOver(map, std::move(below), fmt::format("moved from before {}", name));
}

}  // namespace

Result<Dataset> LeaveOutBeforeMaps(std::string_view name, Dataset input, const BuildOver& build) {
  return BuildBelow(name, std::move(input), build, IsMap);
}

Result<Dataset> HoldBeforeGrowingMaps(std::string_view name, Dataset input,
                                      const BuildOver& build) {
  return BuildBelow(name, std::move(input), build, IsMovableAndGrows);
}

}  // namespace stoker
