// The pipeline data.eval of a recipe by itself: as it is, and over samples to predict.
#include <algorithm>

#include "stoker/data/learn/requests.h"
#include "stoker/data/learn/training_requests.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/zip.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/data_section.h"
#include "stoker/data/recipe/learned_section.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/feature_row.h"
#include "stoker/data/transforms/lookup.h"

namespace stoker {
namespace {

// A sample that cannot be prepared has no prediction: that is an error, whatever evaluation does.
ConfigNode WithoutOnError(ConfigNode stage) {
  std::erase_if(stage.entries,
                [](const ConfigNode::Entry& entry) { return entry.key == kOnError; });
  return stage;
}

// Makes batches keep the last one: it is predicted too, however few samples it has.
void KeepRemainder(ConfigNode& stage) {
  for (ConfigNode::Entry& entry : stage.entries) {
    if (entry.key != Batch::kName && entry.key != PaddedBatch::kName) continue;
    std::erase_if(entry.value.entries,
                  [](const ConfigNode::Entry& option) { return option.key == "drop_remainder"; });
  }
}

// The list of the eval pipeline, which has at least a source.
Result<ConfigNode> EvalSection(const ConfigNode& recipe) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode* data, DataSection(recipe));
  std::optional<ConfigNode> eval = WholePipeline(*data, "eval");
  if (eval && eval->kind == ConfigNode::Kind::kList && !eval->items.empty()) {
    if (FindLearnRequests(*eval).empty()) return *std::move(eval);
    STOKER_ASSIGN_OR_RETURN(const auto learned, LearnedFor(recipe, *eval, {}, {}));
    return FillInLearned(*eval, learned.get());
  }
  return FailedPrecondition(
      "the recipe has no pipeline data.eval, so it is not known how samples are prepared; add one");
}

// The pipelines that a source takes its elements from in turns (concatenate, mix, ...); nothing for
// other sources. Those of zip give other fields each.
std::vector<ConfigNode> InputsOf(const ConfigNode& source) {
  const auto stage = ParseStage(WithoutOnError(source));
  if (!stage.ok() || stage->name == Zip::kName) return {};
  const ConfigNode* const inputs = stage->node.Find(stage->name)->Find("inputs");
  return inputs == nullptr ? std::vector<ConfigNode>() : inputs->items;
}

std::string StagesText(const ConfigNode& list) {
  std::string text;
  for (size_t i = 1; i < list.items.size(); ++i) text += ToYamlLine(list.items[i]) + "\n";
  return text;
}

// As EvalSection, but where the source combines pipelines, their stages stand in the list, after
// one of their sources: samples to predict go through these too.
Result<ConfigNode> FlatEvalSection(const ConfigNode& recipe) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode list, EvalSection(recipe));
  while (true) {
    const std::vector<ConfigNode> inputs = InputsOf(list.items.front());
    if (inputs.empty()) return list;
    for (const ConfigNode& input : inputs) {
      if (StagesText(input) == StagesText(inputs.front())) continue;
      return FailedPrecondition(
          "{}: the pipelines of data.eval that are combined here prepare samples in different "
          "ways, and a prediction needs one; put the stages that they share after the combination",
          list.items.front().location.ToString());
    }
    std::vector<ConfigNode> items = inputs.front().items;
    items.insert(items.end(), list.items.begin() + 1, list.items.end());
    list.items = std::move(items);
  }
}

// Whether a stage is a `lookup` of the field that a model of this recipe learns.
bool NumbersLabels(const ConfigNode& stage, const ConfigNode& recipe) {
  const ConfigNode* const lookup = stage.Find(Lookup::kName);
  return lookup != nullptr && lookup->Find("field")->scalar == TargetOf(recipe);
}

// What helps where samples are not what the stages take, if those are for the columns of a table.
std::string AdviceOnTables(const ConfigNode& list) {
  const bool has_features = std::ranges::any_of(
      list.items, [](const ConfigNode& stage) { return stage.Find(FeatureRow::kName) != nullptr; });
  if (!has_features) return "";
  return "; the model takes rows of a table: predict them with --set 'data.source=[csv: {files: "
         "...}]' --set data.split=null (docs/features.md)";
}

}  // namespace

Result<Dataset> ParseEvalPipeline(const ConfigNode& recipe,
                                  const std::filesystem::path& recipe_folder) {
  STOKER_ASSIGN_OR_RETURN(const EvalList eval, FindEvalList(recipe, recipe_folder));
  return BuildPipeline(eval.list, eval.root);
}

Result<Dataset> BuildEvalPipelineOn(const ConfigNode& recipe, Dataset source) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode eval, FlatEvalSection(recipe));
  Dataset dataset = std::move(source);
  for (size_t i = 1; i < eval.items.size(); ++i) {
    ConfigNode entry = WithoutOnError(eval.items[i]);
    KeepRemainder(entry);
    STOKER_ASSIGN_OR_RETURN(const auto configured, ParseStage(entry));
    // The samples are picked already, and have no labels whose words were to be numbered.
    if (NumbersLabels(configured.node, recipe)) continue;
    if (OperatorRegistry::Known().Arranges(configured.name)) continue;
    Result<Dataset> built = configured.build(dataset);
    if (!built.ok()) {
      return Status(built.status().code(),
                    fmt::format("{}: {}{}", eval.items[i].location.ToString(),
                                built.status().message(), AdviceOnTables(eval)));
    }
    dataset = *std::move(built);
    const std::string_view disturbs = dataset.node().Disturbs();
    if (disturbs.empty()) continue;
    return FailedPrecondition(
        "{}: data.eval: {} {}, but a prediction needs each sample once, in its place and the same "
        "every time; take that out of data.eval",
        eval.items[i].location.ToString(), dataset.node().name(), disturbs);
  }
  return dataset;
}

bool EvalPipelineDecodes(const ConfigNode& recipe, std::string_view field) {
  const Result<ConfigNode> eval = FlatEvalSection(recipe);
  if (!eval.ok()) return false;
  return std::ranges::any_of(eval->items, [&](const ConfigNode& entry) {
    const auto stage = ParseStage(WithoutOnError(entry));
    if (!stage.ok() || stage->name != Decode::kName) return false;
    return stage->node.Find(Decode::kName)->Find("field")->scalar == field;
  });
}

}  // namespace stoker
