#include "stoker/train/models/towers_internal.h"

#include <algorithm>
#include <utility>

#include "stoker/base/problems.h"

namespace stoker::internal {

const Towers::Tower* Towers::Find(std::string_view input) const {
  const auto found = std::ranges::find(towers_, input, &Tower::input);
  return found == towers_.end() ? nullptr : &*found;
}

Status Towers::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap || node.entries.empty()) {
    return InvalidArgument(
        "{} is no map of models, such as {{picture: convnet, words: {{embedding_bag: {{classes: "
        "32}}}}}}",
        node.KindName());
  }
  towers_.clear();
  Problems problems;
  for (const ConfigNode::Entry& entry : node.entries) {
    Result<ModelRegistry::Configured> model = ModelRegistry::Known().Parse(entry.value);
    problems.Add(model.status());
    if (model.ok()) towers_.push_back({entry.key, *std::move(model)});
  }
  return problems.ToStatus();
}

ConfigNode Towers::Write() const {
  ConfigNode written = ConfigNode::Map({});
  for (const Tower& tower : towers_) written.entries.push_back({tower.input, {}, tower.model.node});
  return written;
}

}  // namespace stoker::internal
