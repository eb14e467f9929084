#include "stoker/data/options/pipelines.h"

#include <algorithm>

#include "stoker/base/problems.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

// The pipeline with every option filled in. Makes no dataset, so no file need exist.
Result<ConfigNode> FillPipeline(const ConfigNode& pipeline) {
  if (pipeline.kind != ConfigNode::Kind::kList || pipeline.items.empty()) {
    return InvalidArgument(
        "{}: a pipeline is a list that begins with a source, such as [lines: a.txt, take: 10]; "
        "here is {}",
        pipeline.location.ToString(), pipeline.KindName());
  }
  Problems problems;
  std::vector<ConfigNode> entries;
  for (const ConfigNode& item : pipeline.items) {
    OperatorRegistry::Configured configured;
    problems.Take(ParseStage(item), configured);
    entries.push_back(std::move(configured.node));
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  return ConfigNode::List(std::move(entries));
}

// The first option of the source `name`, where that is a path or takes one: the file it reads.
Result<std::string> PathOptionOf(const std::string& name, const ConfigLocation& location) {
  for (const KindDescription& kind : OperatorRegistry::Known().Describe()) {
    if (kind.name != name) continue;
    if (kind.group != "source" || kind.options.empty()) break;
    const std::string& type = kind.options.front().type;
    if (type == "path" || type == FilePatterns::kTypeName) return kind.options.front().name;
  }
  return InvalidArgument(
      "{}: '{}' is no source that reads files; begin the pipeline with one that does, such as "
      "lines or tfrecord",
      location.ToString(), name);
}

// The operator of an entry of a pipeline, without the key beside it.
ConfigNode WithoutOnError(ConfigNode stage) {
  stage.Erase(kOnError);
  return stage;
}

// `source` with its option `name` set to `path`.
ConfigNode WithPath(ConfigNode source, const std::string& name, const std::string& path) {
  const ConfigLocation location = source.location;
  if (source.kind == ConfigNode::Kind::kScalar)
    source = ConfigNode::Map({{source.scalar, location, {}}});
  source.location = location;
  const auto source_entry = std::ranges::find_if(
      source.entries, [](const ConfigNode::Entry& entry) { return entry.key != kOnError; });
  ConfigNode& options = source_entry->value;
  if (options.kind == ConfigNode::Kind::kNull) {
    options.kind = ConfigNode::Kind::kMap;
    options.location = location;
  }
  options.entries.push_back({name, location, ConfigNode::Scalar(path, /*quoted=*/true)});
  options.entries.back().value.location = location;
  return source;
}

}  // namespace

Status Pipelines::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kList)
    return InvalidArgument("{} is not a list of pipelines, such as [[lines: a.txt], [range: 10]]",
                           node.KindName());
  Problems problems;
  std::vector<ConfigNode> filled;
  for (const ConfigNode& pipeline : node.items) {
    problems.Take(FillPipeline(pipeline), filled.emplace_back());
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  recipes_ = node;
  filled_ = ConfigNode::List(std::move(filled));
  return OkStatus();
}

Result<std::vector<Dataset>> Pipelines::Build(std::string_view who) const {
  std::vector<Result<Dataset>> all = made_;
  for (const ConfigNode& recipe : recipes_.items) all.push_back(BuildPipeline(recipe, root_));
  if (all.empty()) {
    return InvalidArgument(
        "{}: no pipelines are given; name at least one, such as {}: [[range: 10]]", who, who);
  }
  std::vector<Dataset> datasets;
  for (const Result<Dataset>& dataset : all) {
    if (!dataset.ok()) {
      return Status(
          dataset.status().code(),
          fmt::format("{}: pipeline {}: {}", who, datasets.size(), dataset.status().message()));
    }
    datasets.push_back(*dataset);
  }
  return datasets;
}

Result<Dataset> OptionalPipeline::Build(std::string_view who) const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<Dataset> datasets, pipelines_.Build(who));
  return datasets.front();
}

Status OptionalPipeline::Read(const ConfigNode& node) {
  given_ = node.kind != ConfigNode::Kind::kList || !node.items.empty();
  return given_ ? pipelines_.Read(ConfigNode::List({node})) : OkStatus();
}

ConfigNode OptionalPipeline::Write() const {
  const ConfigNode all = pipelines_.Write();
  return all.items.empty() ? all : all.items.front();
}

Status PipelinePerFile::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kList)
    return InvalidArgument("{} is not a pipeline, such as [lines, take: 10]", node.KindName());
  if (node.items.empty()) return OkStatus();
  const ConfigNode& source = node.items.front();
  STOKER_ASSIGN_OR_RETURN(
      const NamedOptions named,
      SplitNamedOptions(WithoutOnError(source), "operator", OperatorRegistry::Known().Names()));
  STOKER_ASSIGN_OR_RETURN(const std::string option, PathOptionOf(named.name, source.location));
  const bool bare =
      named.options.kind != ConfigNode::Kind::kNull && named.options.kind != ConfigNode::Kind::kMap;
  if (bare || named.options.Find(option) != nullptr) {
    return InvalidArgument("{}: {}.{} is each of the files in turn; leave it out",
                           source.location.ToString(), named.name, option);
  }
  ConfigNode with_path = node;
  with_path.items.front() = WithPath(source, option, "file");
  STOKER_ASSIGN_OR_RETURN(filled_, FillPipeline(with_path));
  filled_.items.front().entries.front().value.Erase(option);
  path_option_ = option;
  recipe_ = node;
  return OkStatus();
}

Result<Dataset> PipelinePerFile::Build(const std::string& path) const {
  if (make_) return make_(path);
  ConfigNode pipeline = recipe_;
  // Absolute: the file is not looked for below the root a second time.
  const std::string absolute = std::filesystem::absolute(path).string();
  pipeline.items.front() = WithPath(std::move(pipeline.items.front()), path_option_, absolute);
  return BuildPipeline(pipeline, root_);
}

}  // namespace stoker
