#include "stoker/data/options/registry.h"

#include <utility>

#include "stoker/base/problems.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/nodes/name_maps.h"
#include "stoker/data/options/build_stage.h"

namespace stoker {
namespace {

// The operator that a stage's on_error stands for.
constexpr std::string_view kOnErrorOperator = "ignore_errors";

Result<OperatorRegistry::Configured> ParseOnError(const ConfigNode& node,
                                                  const std::filesystem::path& root) {
  if (node.kind == ConfigNode::Kind::kNull) {
    return InvalidArgument(
        "{}: {}: there is no value; say skip, replace or fail, or {{policy: "
        "skip, limit: 100}}",
        node.location.ToString(), kOnError);
  }
  return OperatorRegistry::Known().ParseOptionsOfKind(kOnErrorOperator, node, kOnError, root);
}

// Written among an operator's options it would be one that is unknown.
Status CheckPlaceOfOnError(const ConfigNode& stage) {
  for (const auto& [name, location, options] : stage.entries) {
    if (options.kind != ConfigNode::Kind::kMap) continue;
    for (const ConfigNode::Entry& option : options.entries) {
      if (option.key != kOnError) continue;
      return InvalidArgument(
          "{}: {} stands beside {}, not among its options: {{{}: {{...}}, {}: ...}}",
          option.key_location.ToString(), kOnError, name, name, kOnError);
    }
  }
  return OkStatus();
}

// The same operator, whose Build may be code of a user: what it throws becomes an error, and the
// stages that it makes of functions have its name.
OperatorRegistry::Configured Guarded(OperatorRegistry::Configured kind) {
  kind.build = [name = kind.name, build = std::move(kind.build)](
                   const std::optional<Dataset>& input) -> Result<Dataset> {
    STOKER_ASSIGN_OR_RETURN(Dataset built,
                            CatchExceptions([&] { return build(input); }, "{}: its Build", name));
    return NameMaps(std::move(built), input ? &input->node() : nullptr, name);
  };
  return kind;
}

// What is learned is put in before a recipe's pipelines are built (data/learn).
Status CheckIsLearned(const ConfigNode& node) {
  const std::optional<AskedStage> asked = OperatorRegistry::Known().Asks(node);
  if (!asked) return OkStatus();
  return InvalidArgument(
      "{}: {}: {} is auto, which is learned from the training data; that is possible for the "
      "stages of data.source, data.train and data.eval of a recipe, and not inside of another "
      "stage or in a pipeline that is built in code: give values there",
      node.location.ToString(), asked->stage, asked->option);
}

Result<OperatorRegistry::Configured> ParseOperator(const ConfigNode& node,
                                                   const std::filesystem::path& root) {
  STOKER_RETURN_IF_ERROR(CheckIsLearned(node));
  STOKER_ASSIGN_OR_RETURN(OperatorRegistry::Configured kind,
                          OperatorRegistry::Known().Parse(node, root));
  return Guarded(std::move(kind));
}

}  // namespace

std::optional<AskedStage> OperatorRegistry::Asks(const ConfigNode& entry) const {
  const auto is_auto = [](const ConfigNode& value) {
    return value.kind == ConfigNode::Kind::kScalar && !value.quoted && value.scalar == "auto";
  };
  if (entry.kind != ConfigNode::Kind::kMap) return std::nullopt;
  for (const ConfigNode::Entry& stage : entry.entries) {
    const std::vector<std::string>& options = LearnedOptions(stage.key);
    if (options.empty()) continue;
    const ConfigNode* const option = stage.value.Find(options.front());
    if (is_auto(stage.value) || (option != nullptr && is_auto(*option)))
      return AskedStage{stage.key, options.front()};
  }
  return std::nullopt;
}

const std::vector<std::string>& OperatorRegistry::LearnedOptions(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto found = learned_.find(name);
  return found == learned_.end() ? kNone : found->second;
}

OperatorRegistry& OperatorRegistry::ToAddTo() {
  static OperatorRegistry registry = [] {
    OperatorRegistry made;
    RegisterBuiltinOperators(made);
    return made;
  }();
  return registry;
}

Result<OperatorRegistry::Configured> ParseStage(const ConfigNode& entry,
                                                const std::filesystem::path& root) {
  STOKER_RETURN_IF_ERROR(CheckPlaceOfOnError(entry));
  const ConfigNode* value = entry.Find(kOnError);
  if (value == nullptr) return ParseOperator(entry, root);
  ConfigNode stage = entry;
  stage.Erase(kOnError);
  if (stage.entries.empty()) {
    return InvalidArgument("{}: {} stands alone; write it beside an operator, in the same entry",
                           value->location.ToString(), kOnError);
  }
  Problems problems;
  OperatorRegistry::Configured configured, on_error;
  problems.Take(ParseOperator(stage, root), configured);
  problems.Take(ParseOnError(*value, root), on_error);
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  ConfigNode& filled = on_error.node.entries.front().value;
  configured.node.entries.push_back({std::string(kOnError), {}, std::move(filled)});
  configured.build = [first = std::move(configured.build), then = std::move(on_error.build)](
                         std::optional<Dataset> input) -> Result<Dataset> {
    STOKER_ASSIGN_OR_RETURN(Dataset built, first(std::move(input)));
    return then(std::move(built));
  };
  return configured;
}

Result<Dataset> BuildPipeline(const ConfigNode& pipeline, const std::filesystem::path& root,
                              ConfigNode* filled) {
  if (pipeline.kind != ConfigNode::Kind::kList || pipeline.items.empty()) {
    return InvalidArgument(
        "{}: a pipeline is a list that begins with a source, such as [idx: {{images: ...}}, "
        "shuffle, batch]; here is {}",
        pipeline.location.ToString(), pipeline.KindName());
  }
  Problems problems;
  std::optional<Dataset> dataset;
  std::vector<ConfigNode> entries;
  for (const ConfigNode& item : pipeline.items) {
    OperatorRegistry::Configured configured;
    problems.Take(ParseStage(item, root), configured);
    // What follows a mistake has no input; its own options are read all the same.
    if (!problems.empty()) continue;
    problems.Take(BuildStage(configured, item.location, entries, dataset), dataset);
    entries.push_back(configured.node);
    entries.back().location = item.location;
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  if (filled != nullptr) *filled = ConfigNode::List(std::move(entries));
  return *std::move(dataset);
}

}  // namespace stoker
