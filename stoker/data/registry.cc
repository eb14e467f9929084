#include "stoker/data/registry.h"

namespace stoker {

const OperatorRegistry& OperatorRegistry::Builtin() {
  static const OperatorRegistry registry = [] {
    OperatorRegistry made;
    RegisterBuiltinOperators(made);
    return made;
  }();
  return registry;
}

Result<Dataset> BuildPipeline(const ConfigNode& pipeline, const std::filesystem::path& root,
                              ConfigNode* filled) {
  if (pipeline.kind != ConfigNode::Kind::kList || pipeline.items.empty()) {
    return InvalidArgument(
        "{}: a pipeline is a list that begins with a source, such as [idx: {{images: ...}}, "
        "shuffle, batch]; here is {}",
        pipeline.location.ToString(), pipeline.KindName());
  }
  std::optional<Dataset> dataset;
  std::vector<ConfigNode> entries;
  for (const ConfigNode& item : pipeline.items) {
    STOKER_ASSIGN_OR_RETURN(const auto configured, OperatorRegistry::Builtin().Parse(item, root));
    Result<Dataset> built = configured.build(dataset);
    if (!built.ok()) {
      return Status(built.status().code(),
                    fmt::format("{}: {}", item.location.ToString(), built.status().message()));
    }
    dataset = *std::move(built);
    entries.push_back(configured.node);
  }
  if (filled != nullptr) *filled = ConfigNode::List(std::move(entries));
  return *std::move(dataset);
}

}  // namespace stoker
