#include "stoker/data/recipe.h"

#include <algorithm>

#include "stoker/base/options.h"
#include "stoker/data/class_names.h"
#include "stoker/data/data_section_internal.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/registry.h"
#include "stoker/data/transforms/decode.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

// A class that one side lacks would shift the numbers of those behind it.
Status CheckSameClasses(const ConfigNode& eval, const std::vector<std::string>& train,
                        const std::vector<std::string>& other) {
  if (train.empty() || other.empty() || train == other) return OkStatus();
  return InvalidArgument(
      "{}: data.eval has other classes than data.train: {}; give both the same folders "
      "(folder.allow_empty lets some be empty), files that were packed from such, or words",
      eval.location.ToString(), FirstDifferenceOfClasses(train, other));
}

// The field that a model of this recipe learns, as train/recipe.h has it.
std::string LabelOf(const ConfigNode& recipe) {
  const ConfigNode* const train = recipe.Find("train");
  const ConfigNode* const target = train == nullptr ? nullptr : train->Find("target");
  return target == nullptr ? "label" : target->scalar;
}

// A sample that cannot be prepared has no prediction: that is an error, whatever evaluation does.
ConfigNode WithoutOnError(ConfigNode stage) {
  std::erase_if(stage.entries,
                [](const ConfigNode::Entry& entry) { return entry.key == kOnError; });
  return stage;
}

// The list of the eval pipeline, which has at least a source.
Result<const ConfigNode*> EvalSection(const ConfigNode& recipe) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode* data, DataSection(recipe));
  const ConfigNode* eval = data->Find("eval");
  if (eval != nullptr && eval->kind == ConfigNode::Kind::kList && !eval->items.empty()) return eval;
  return FailedPrecondition(
      "the recipe has no pipeline data.eval, so it is not known how samples are prepared; add one");
}

}  // namespace

KindDescription DescribeDataSection() {
  const DataOptions defaults;
  KindDescription section{.name = "data",
                          .help = "The keys of `data:`.",
                          .group = "section",
                          .options = OptionsOf<DataOptions>(),
                          .defaults = FormatOptions(OptionsOf<DataOptions>(), &defaults)};
  Option train{.name = "train",
               .type = "pipeline",
               .constraint = "",
               .help = "a list of operators that begins with a source: what is trained on"};
  train.required = true;
  section.options.push_back(std::move(train));
  section.options.push_back({.name = "eval",
                             .type = "pipeline",
                             .constraint = "",
                             .help = "likewise, what the model is measured on; how `stoker "
                                     "predict` prepares samples"});
  return section;
}

Status CheckSections(const ConfigNode& recipe) {
  static const std::vector<std::string> kSections = {"data", "model", "train"};
  if (recipe.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: a recipe is a map with the sections data, model and train; here is {}",
        recipe.location.ToString(), recipe.KindName());
  }
  return CheckKeys(recipe, "", "section", kSections);
}

Status ApplyAssignments(ConfigNode& recipe, const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    STOKER_RETURN_IF_ERROR(SetByPath(recipe, assignment));
  }
  return OkStatus();
}

Result<ConfigNode> ReadRecipe(const std::filesystem::path& file,
                              const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(file.string()));
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ParseYaml(text, file.string()));
  STOKER_RETURN_IF_ERROR(ApplyAssignments(recipe, assignments));
  STOKER_RETURN_IF_ERROR(CheckSections(recipe));
  return recipe;
}

Result<DataRecipe> ParseDataSection(const ConfigNode& recipe,
                                    const std::filesystem::path& recipe_folder) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode* data, DataSection(recipe));
  STOKER_ASSIGN_OR_RETURN(DataOptions options, ParseDataOptions(*data));
  options.root = AbsoluteRoot(*data, options.root, recipe_folder);
  const std::filesystem::path& root = options.root;
  const ConfigNode* train = data->Find("train");
  if (train == nullptr) {
    return InvalidArgument(
        "{}: data: the pipeline 'train' is missing; it is a list such as [idx: {{...}}, shuffle, "
        "batch]",
        data->location.ToString());
  }
  ConfigNode train_filled;
  STOKER_ASSIGN_OR_RETURN(Dataset train_dataset, BuildPipeline(*train, root, &train_filled));
  const std::string label = LabelOf(recipe);
  const std::vector<std::string> names = FindClassNames(train_dataset, label);
  if (options.classes.empty()) options.classes = names;
  // Absolute, so that the filled recipe means the same wherever it is stored.
  ConfigNode filled = FormatOptions(OptionsOf<DataOptions>(), &options);
  if (!options.remote.given()) {  // most recipes read nothing remote
    std::erase_if(filled.entries,
                  [](const ConfigNode::Entry& entry) { return entry.key == "remote"; });
  }
  filled.entries.push_back({"train", {}, std::move(train_filled)});

  std::optional<Dataset> eval_dataset;
  if (const ConfigNode* eval = data->Find("eval")) {
    ConfigNode eval_filled;
    STOKER_ASSIGN_OR_RETURN(eval_dataset, BuildPipeline(*eval, root, &eval_filled));
    STOKER_RETURN_IF_ERROR(CheckSameClasses(*eval, names, FindClassNames(*eval_dataset, label)));
    filled.entries.push_back({"eval", {}, std::move(eval_filled)});
  }
  return DataRecipe{options.root, std::move(train_dataset), std::move(eval_dataset),
                    std::move(options.classes), std::move(filled)};
}

Result<Dataset> ParseEvalPipeline(const ConfigNode& recipe,
                                  const std::filesystem::path& recipe_folder) {
  STOKER_ASSIGN_OR_RETURN(const EvalList eval, FindEvalList(recipe, recipe_folder));
  return BuildPipeline(*eval.list, eval.root);
}

Result<Dataset> BuildEvalPipelineOn(const ConfigNode& recipe, Dataset source) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode* eval, EvalSection(recipe));
  Dataset dataset = std::move(source);
  for (size_t i = 1; i < eval->items.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(const auto configured, ParseStage(WithoutOnError(eval->items[i])));
    // These pick samples and prepare none: the samples to predict are picked already. Nor have they
    // labels whose words were to be numbered.
    if (configured.name == "take" || configured.name == "skip" ||
        configured.name == IgnoreErrors::kName || configured.name == Lookup::kName)
      continue;
    Result<Dataset> built = configured.build(dataset);
    if (!built.ok()) {
      return Status(built.status().code(), fmt::format("{}: {}", eval->items[i].location.ToString(),
                                                       built.status().message()));
    }
    dataset = *std::move(built);
    const std::string_view disturbs = dataset.node().Disturbs();
    if (disturbs.empty()) continue;
    return FailedPrecondition(
        "{}: data.eval: {} {}, but a prediction needs each sample once, in its place and the same "
        "every time; take that out of data.eval",
        eval->items[i].location.ToString(), dataset.node().name(), disturbs);
  }
  return dataset;
}

bool EvalPipelineDecodes(const ConfigNode& recipe, std::string_view field) {
  const Result<const ConfigNode*> eval = EvalSection(recipe);
  if (!eval.ok()) return false;
  return std::ranges::any_of((*eval)->items, [&](const ConfigNode& entry) {
    const auto stage = ParseStage(WithoutOnError(entry));
    if (!stage.ok() || stage->name != Decode::kName) return false;
    return stage->node.Find(Decode::kName)->Find("field")->scalar == field;
  });
}

}  // namespace stoker
