#include "stoker/data/options/whole_pipeline.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/named_kind.h"
#include "stoker/data/options/feature_columns.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

// The operator that data.split stands for (ops/split.h), and its option for the pipeline.
constexpr std::string_view kSplit = "split";
constexpr std::string_view kSide = "side";

// Returns the stages of data.source; one stage may stand without a list.
std::vector<ConfigNode> SourceStages(const ConfigNode& data) {
  const ConfigNode* const source = data.Find("source");
  if (source == nullptr || source->kind == ConfigNode::Kind::kNull) return {};
  return source->kind == ConfigNode::Kind::kList ? source->items : std::vector{*source};
}

// Returns the options of data.split; null if there are none, as after `--set data.split=null`.
const ConfigNode* SplitOptions(const ConfigNode& data) {
  const ConfigNode* const split = data.Find("split");
  return split == nullptr || split->kind == ConfigNode::Kind::kNull ? nullptr : split;
}

// Returns the stage that keeps the side `name` under these options: a map, or the share alone.
ConfigNode SplitStage(const ConfigNode& split, std::string_view name) {
  ConfigNode options = split;
  if (split.kind != ConfigNode::Kind::kMap) {
    options = ConfigNode::Map({{"eval", split.location, split}});
  }
  options.location = split.location;
  options.entries.push_back(
      {std::string(kSide), split.location, ConfigNode::Scalar(std::string(name))});
  ConfigNode stage = ConfigNode::Map({{std::string(kSplit), split.location, options}});
  stage.location = split.location;
  return stage;
}

// A list that begins with a source of its own follows no other.
Status CheckBeginsWithNoSource(const ConfigNode& data, std::string_view name) {
  const ConfigNode* const list = data.Find(name);
  if (list == nullptr || list->items.empty()) return OkStatus();
  const ConfigNode& first = list->items.front();
  const std::string_view stage = NamedKind(first);
  const std::vector<KindDescription> kinds = OperatorRegistry::Known().Describe();
  const auto kind = std::ranges::find(kinds, stage, &KindDescription::name);
  if (kind == kinds.end() || kind->group != "source") return OkStatus();
  return InvalidArgument(
      "{}: data.{} begins with the source {}, but goes on from data.source; leave one of the two "
      "out (`--set data.source=null --set data.split=null` does for a run)",
      first.location.ToString(), name, stage);
}

bool NamesFeatures(const ConfigNode* value) {
  if (value == nullptr) return false;
  return value->scalar == kFeaturesField ||
         std::ranges::find(value->items, kFeaturesField, &ConfigNode::scalar) != value->items.end();
}

// A model makes layers of the row as it is, so that no stage may change it.
Status CheckLeavesFeatures(const ConfigNode& stage, std::string_view pipeline) {
  for (const ConfigNode::Entry& entry : stage.entries) {
    const ConfigNode& options = entry.value;
    if (!NamesFeatures(options.Find("field")) && !NamesFeatures(options.Find("fields"))) continue;
    return InvalidArgument(
        "{}: data.{}: {} would change the row of features, whose categories the model knows by "
        "number; change columns in data.source, or by the options of data.features",
        stage.location.ToString(), pipeline, entry.key);
  }
  return OkStatus();
}

Status CheckFeatures(const ConfigNode& data) {
  if (!HasFeatures(data)) return OkStatus();
  if (SourceStages(data).empty()) {
    return InvalidArgument(
        "{}: data.features are made of what data.source reads, and there is no source; write "
        "`source: [csv: {{files: a.csv}}]` in `data`, and begin train and eval with what follows "
        "the features",
        data.Find(kFeaturesKey)->location.ToString());
  }
  STOKER_RETURN_IF_ERROR(FeatureStages(data).status());
  for (const char* const name : {"train", "eval"}) {
    const ConfigNode* const list = data.Find(name);
    if (list == nullptr) continue;
    for (const ConfigNode& stage : list->items)
      STOKER_RETURN_IF_ERROR(CheckLeavesFeatures(stage, name));
  }
  return OkStatus();
}

}  // namespace

std::optional<ConfigNode> WholePipeline(const ConfigNode& data, std::string_view name) {
  const ConfigNode* const list = data.Find(name);
  if (list == nullptr) return std::nullopt;
  if (list->kind != ConfigNode::Kind::kList) return *list;
  ConfigNode whole = *list;
  whole.items = SourceStages(data);
  if (const ConfigNode* const split = SplitOptions(data); split != nullptr)
    whole.items.push_back(SplitStage(*split, name));
  // Wrong features are an error of CheckShared.
  if (const auto features = FeatureStages(data); features.ok())
    whole.items.insert(whole.items.end(), features->begin(), features->end());
  whole.items.insert(whole.items.end(), list->items.begin(), list->items.end());
  return whole;
}

Status CheckShared(const ConfigNode& data) {
  const ConfigNode* const source = data.Find("source");
  if (source != nullptr && source->kind == ConfigNode::Kind::kList && source->items.empty()) {
    return InvalidArgument(
        "{}: data.source is empty; it is a list that begins with a source, such as [csv: {{files: "
        "a.csv}}]",
        source->location.ToString());
  }
  for (const char* const name : {"train", "eval"}) {
    if (!SourceStages(data).empty()) STOKER_RETURN_IF_ERROR(CheckBeginsWithNoSource(data, name));
  }
  STOKER_RETURN_IF_ERROR(CheckFeatures(data));
  const ConfigNode* const split = SplitOptions(data);
  if (split == nullptr) return OkStatus();
  if (SourceStages(data).empty()) {
    return InvalidArgument(
        "{}: data.split divides what data.source reads, and there is no source; write `source: "
        "[csv: {{files: a.csv}}]` in `data`, and begin train and eval with what follows it",
        split->location.ToString());
  }
  if (split->kind == ConfigNode::Kind::kList) {
    return InvalidArgument(
        "{}: data.split is a list; it is a share, such as 0.2, or options, such "
        "as {{eval: 0.2, seed: 1}}",
        split->location.ToString());
  }
  if (const ConfigNode* const side = split->Find(kSide); side != nullptr) {
    return InvalidArgument(
        "{}: data.split has no side: data.train gets one and data.eval the other; take it out",
        side->location.ToString());
  }
  return OkStatus();
}

void AddFilledPipelines(const ConfigNode& data, ConfigNode train, ConfigNode eval,
                        ConfigNode& filled) {
  const size_t of_source = SourceStages(data).size();
  const bool splits = SplitOptions(data) != nullptr;
  if (of_source > 0) {
    const auto end = train.items.begin() + static_cast<std::ptrdiff_t>(of_source);
    filled.entries.push_back(
        {"source", {}, ConfigNode::List(std::vector(train.items.begin(), end))});
  }
  if (splits) {
    ConfigNode options = *train.items[of_source].Find(kSplit);
    options.Erase(kSide);
    filled.entries.push_back({"split", {}, std::move(options)});
  }
  const auto shared = static_cast<std::ptrdiff_t>(of_source + (splits ? 1 : 0));
  const auto add = [&](const char* name, ConfigNode& pipeline) {
    if (pipeline.kind != ConfigNode::Kind::kList) return;
    pipeline.items.erase(pipeline.items.begin(), pipeline.items.begin() + shared);
    filled.entries.push_back({name, {}, std::move(pipeline)});
  };
  add("train", train);
  add("eval", eval);
}

}  // namespace stoker
