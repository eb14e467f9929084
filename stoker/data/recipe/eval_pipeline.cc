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
  stage.Erase(kOnError);
  return stage;
}

// Makes batches keep the last one: it is predicted too, however few samples it has.
void KeepRemainder(ConfigNode& stage) {
  for (ConfigNode::Entry& entry : stage.entries) {
    if (entry.key != Batch::kName && entry.key != PaddedBatch::kName) continue;
    entry.value.Erase("drop_remainder");
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

// Whether a stage is a `lookup` of a field that a model of this recipe learns.
bool NumbersLabels(const ConfigNode& stage, const ConfigNode& recipe) {
  const ConfigNode* const lookup = stage.Find(Lookup::kName);
  if (lookup == nullptr) return false;
  const std::vector<std::string> targets = TargetsOf(recipe);
  return std::ranges::find(targets, lookup->Find("field")->scalar) != targets.end();
}

// A stage that samples to predict go through; nothing for others. They are picked already, and have
// no labels whose words were to be numbered.
Result<std::optional<OperatorRegistry::Configured>> StageOfSamples(const ConfigNode& written,
                                                                   const ConfigNode& recipe) {
  ConfigNode entry = WithoutOnError(written);
  KeepRemainder(entry);
  STOKER_ASSIGN_OR_RETURN(OperatorRegistry::Configured stage, ParseStage(entry));
  const bool left_out =
      NumbersLabels(stage.node, recipe) || OperatorRegistry::Known().Arranges(stage.name);
  return left_out ? std::nullopt : std::optional(std::move(stage));
}

// The pipelines that a source takes its elements from in turns (concatenate, mix, interleave, ...);
// nothing for other sources. Those of zip give other fields each.
std::vector<ConfigNode> InputsOf(const ConfigNode& source) {
  const auto stage = ParseStage(WithoutOnError(source));
  if (!stage.ok() || stage->name == Zip::kName) return {};
  const ConfigNode& options = *stage->node.Find(stage->name);
  const ConfigNode* const inputs = options.Find("inputs");
  if (inputs != nullptr && !inputs->items.empty()) return inputs->items;
  const ConfigNode* const per_file = options.Find("pipeline");
  if (per_file == nullptr || per_file->items.empty()) return {};
  return {*per_file};
}

// As EvalSection, but where the source combines pipelines, their stages stand in the list, after
// one of their sources: samples to predict go through these too.
Result<ConfigNode> FlatPipeline(ConfigNode list, const ConfigNode& recipe) {
  const std::vector<ConfigNode> inputs = InputsOf(list.items.front());
  if (inputs.empty()) return list;
  std::optional<std::string> shared;
  ConfigNode flat;
  for (const ConfigNode& input : inputs) {
    STOKER_ASSIGN_OR_RETURN(flat, FlatPipeline(input, recipe));
    std::string stages;
    for (size_t i = 1; i < flat.items.size(); ++i) {
      STOKER_ASSIGN_OR_RETURN(const auto stage, StageOfSamples(flat.items[i], recipe));
      if (stage) stages += ToYamlLine(stage->node) + "\n";
    }
    if (!shared) shared = stages;
    if (*shared == stages) continue;
    return FailedPrecondition(
        "{}: the pipelines of data.eval that are combined here prepare samples in different ways, "
        "and a prediction needs one; put the stages that they share after the combination",
        list.items.front().location.ToString());
  }
  list.items.erase(list.items.begin());
  list.items.insert(list.items.begin(), flat.items.begin(), flat.items.end());
  return list;
}

Result<ConfigNode> FlatEvalSection(const ConfigNode& recipe) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode list, EvalSection(recipe));
  return FlatPipeline(std::move(list), recipe);
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
    STOKER_ASSIGN_OR_RETURN(const auto stage, StageOfSamples(eval.items[i], recipe));
    if (!stage) continue;
    Result<Dataset> built = stage->build(dataset);
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

bool EvalPipelineMakes(const ConfigNode& recipe, std::string_view field) {
  const Result<ConfigNode> eval = FlatEvalSection(recipe);
  if (!eval.ok()) return false;
  return std::ranges::any_of(eval->items, [&](const ConfigNode& entry) {
    return std::ranges::any_of(entry.entries, [&](const ConfigNode::Entry& stage) {
      const ConfigNode* const to = stage.value.Find("to");
      return to != nullptr && to->scalar == field;
    });
  });
}

}  // namespace stoker
