#include "stoker/tools/formats/recipe.h"

#include <fmt/format.h>

#include "stoker/base/config.h"
#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/base/unloaded_kinds.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/io/file.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/rows.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

void AddStages(const Dataset& dataset, std::vector<std::vector<std::string>>& rows, Json& stages) {
  const DatasetNode& node = dataset.node();
  for (const Dataset& input : node.inputs()) AddStages(input, rows, stages);
  rows.push_back(
      {node.name(), node.cardinality().ToString(), node.spec().ToString(), node.Details()});
  stages.push_back({{"operator", node.name()},
                    {"elements", node.cardinality().ToString()},
                    {"spec", node.spec().ToString()},
                    {"details", node.Details()}});
}

void DescribePipeline(const std::string& name, const Dataset& dataset, Inspection& out) {
  std::vector<std::vector<std::string>> rows = {{"operator", "elements", "each", "details"}};
  Json stages = Json::array();
  AddStages(dataset, rows, stages);
  out.json["pipelines"][name] = std::move(stages);
  out.text += fmt::format("  pipeline data.{}\n{}", name, TableText(rows, 4));
}

// Where stages of a pipeline may come from plug-ins, which are not loaded here.
Inspection WithoutPipelines(Inspection out, const Status& unknown) {
  for (const std::string& message : ProblemsIn(unknown)) {
    out.json["not_described"].push_back(message);
    out.text += fmt::format("  not described: {}\n", Printable(message));
  }
  return out;
}

// Recipes are small; a larger text is not read only to see whether it is one.
constexpr uint64_t kLargestRecipe = 1 << 20;

bool HasSectionsOfRecipe(const ProbedFile& file) {
  if (file.bytes > kLargestRecipe) return false;
  const Result<std::string> text = ReadTextFile(file.path);
  const Result<ConfigNode> tree = text.ok() ? ParseYaml(*text, file.path) : text.status();
  return tree.ok() && (tree->Find("data") || tree->Find("model") || tree->Find("train"));
}

// YAML that has no name of a table's.
Result<bool> IsRecipe(const ProbedFile& file) {
  if (file.stored != FileKind::kText) return false;
  if (file.path.ends_with(".yaml") || file.path.ends_with(".yml")) return true;
  return !IsNamedAsRows(file) && HasSectionsOfRecipe(file);
}

}  // namespace

Result<Inspection> InspectRecipe(const std::string& path,
                                 const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipe(path, assignments));
  SetPluginPolicy(PluginPolicy::kLeaveOut);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  STOKER_RETURN_IF_ERROR(LoadPlugins(recipe, folder));
  Inspection out;
  std::vector<std::string> sections;
  for (const ConfigNode::Entry& entry : recipe.entries) sections.push_back(entry.key);
  out.json = {{"file", path}, {"format", "recipe"}, {"sections", sections}};
  out.text = fmt::format("{}: recipe with the sections {}\n", Printable(path),
                         Printable(fmt::format("{}", fmt::join(sections, ", "))));
  const Result<DataRecipe> read = ParseDataSection(recipe, folder);
  STOKER_RETURN_IF_ERROR(AboutKnownKinds(read.status()));
  if (!read.ok()) return WithoutPipelines(std::move(out), read.status());
  const DataRecipe& data = *read;
  out.text += fmt::format("  data.root {}\n", Printable(data.root.string()));
  out.json["root"] = data.root.string();
  DescribePipeline("train", data.train, out);
  if (data.eval) DescribePipeline("eval", *data.eval, out);
  if (!data.classes.empty()) {
    out.json["classes"] = data.classes;
    out.text +=
        fmt::format("  classes {}\n", Printable(fmt::format("{}", fmt::join(data.classes, ", "))));
  }
  return out;
}

const FileFormat kRecipeFormat = {
    .name = "recipe",
    .holds = IsRecipe,
    .inspect = [](const ProbedFile& file) { return InspectRecipe(file.path); },
};

}  // namespace stoker
