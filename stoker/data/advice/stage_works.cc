#include "stoker/data/advice/stage_works.h"

#include "stoker/data/rewrites/picture_pass.h"

namespace stoker {
namespace {

StageWork StageWorkOf(const DatasetNode& node) {
  const std::string_view name = node.name();
  if (node.inputs().empty()) return StageWork::kReads;
  if (name.starts_with("decode") || name.starts_with("parse")) return StageWork::kDecodes;
  return node.element_wise() != nullptr ? StageWork::kChanges : StageWork::kArranges;
}

void CollectWorks(const DatasetNode& node, std::map<std::string, StageWork, std::less<>>& works) {
  works.emplace(node.name(), StageWorkOf(node));
  for (const Dataset& input : node.inputs()) CollectWorks(input.node(), works);
}

}  // namespace

StageWorks::StageWorks(const Dataset& dataset)
    : works_({{std::string(kOnePassName), StageWork::kDecodes}}) {
  CollectWorks(dataset.node(), works_);
}

StageWork StageWorks::Of(std::string_view name) const {
  const auto found = works_.find(name);
  return found == works_.end() ? StageWork::kChanges : found->second;
}

}  // namespace stoker
