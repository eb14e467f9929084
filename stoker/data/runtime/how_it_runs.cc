#include "stoker/data/runtime/how_it_runs.h"

#include <algorithm>

#include "stoker/data/runtime/hop.h"

namespace stoker {
namespace {

void AppendStages(const DatasetNode& node, std::vector<const DatasetNode*>& stages) {
  for (const Dataset& input : node.inputs()) AppendStages(input.node(), stages);
  if (std::ranges::find(stages, &node) == stages.end()) stages.push_back(&node);
}

void AppendGroups(const DatasetNode& node, std::vector<RunGroup>& groups) {
  RunGroup group{.way = WayOf(node), .stages = {}};
  std::vector<Dataset> below;
  switch (group.way) {
    case Way::kByPosition: AppendStages(node, group.stages); break;
    case Way::kHop:
      group.stages = StagesOfHop(node);
      below = {group.stages.front()->input()};
      break;
    case Way::kInOrder:
      group.stages = {&node};
      below = node.inputs();
      break;
  }
  for (const Dataset& input : below) AppendGroups(input.node(), groups);
  groups.push_back(std::move(group));
}

}  // namespace

Way WayOf(const DatasetNode& node) {
  if (node.random_access()) return Way::kByPosition;
  return IsHopStage(node) ? Way::kHop : Way::kInOrder;
}

std::vector<RunGroup> HowItRuns(const Dataset& dataset) {
  std::vector<RunGroup> groups;
  AppendGroups(dataset.node(), groups);
  return groups;
}

}  // namespace stoker
