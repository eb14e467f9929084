#include "stoker/data/pack/pack_source.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "stoker/base/named_kind.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/feature_columns.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"

namespace stoker {
namespace {

bool GivesBatches(std::string_view stage) {
  constexpr std::string_view kBatching[] = {"batch", "padded_batch", "bucket_by_length"};
  return std::ranges::find(kBatching, stage) != std::end(kBatching);
}

// Elements are packed, not batches: those are made anew, of another size perhaps, when the files
// are read.
Status CheckStages(const std::vector<ConfigNode>& stages, const std::string& of) {
  for (size_t i = stages.size(); i-- > 0;) {
    const std::string_view name = NamedKind(stages[i]);
    if (name == "unbatch") return OkStatus();
    if (!GivesBatches(name)) continue;
    return InvalidArgument(
        "{}: stage {} of data.{} gives batches, and elements are packed; give --stages {} to pack "
        "what comes before `{}`",
        stages[i].location.ToString(), i + 1, of, i, name);
  }
  return OkStatus();
}

}  // namespace

// The recipe with the pipeline that is packed as its only one.
Result<PackSource> PackSourceOfRecipe(const std::string& path, const PackSourceOptions& options) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRecipeAndPlugins(path, options.assignments));
  ConfigNode* const data = recipe.Find("data");
  std::optional<ConfigNode> wanted;
  if (data != nullptr) {
    STOKER_RETURN_IF_ERROR(CheckShared(*data));
    wanted = WholePipeline(*data, options.of);
  }
  if (data != nullptr && !wanted && options.of != "train") {
    return InvalidArgument("{}: the recipe has no pipeline data.{}", data->location.ToString(),
                           options.of);
  }
  if (wanted) {
    ConfigNode pipeline = *std::move(wanted);
    const auto stages = static_cast<int64_t>(pipeline.items.size());
    if (options.stages && *options.stages > stages) {
      return InvalidArgument("--stages {}: data.{} has {} stages", *options.stages, options.of,
                             stages);
    }
    if (options.stages) pipeline.items.resize(static_cast<size_t>(*options.stages));
    STOKER_RETURN_IF_ERROR(CheckStages(pipeline.items, options.of));
    std::erase_if(data->entries, [](const ConfigNode::Entry& entry) {
      return entry.key == "train" || entry.key == "eval" || entry.key == "source" ||
             entry.key == "split" || entry.key == kFeaturesKey;
    });
    data->entries.push_back({"train", {}, std::move(pipeline)});
  }
  STOKER_ASSIGN_OR_RETURN(DataRecipe parsed,
                          ParseDataSection(recipe, std::filesystem::path(path).parent_path()));
  for (const Field& field : parsed.train.spec().fields) {
    if (!FindFeatureLayout(parsed.train, field.name).HasCategories()) continue;
    return InvalidArgument(
        "data.{}: what the numbers in field '{}' stand for would not be packed with them; pack "
        "what comes before the features, with --stages N, and let the recipe of the packed file "
        "have them",
        options.of, field.name);
  }
  return PackSource{std::move(parsed.train),
                    std::move(parsed.classes),
                    WithoutSecrets(ToYamlLine(*parsed.filled.Find("train"))),
                    {path}};
}

PackSource internal::PackSourceOf(Dataset dataset, std::string_view name,
                                  const ConfigNode& options) {
  std::vector<std::string> classes = FindClassNames(dataset);
  return {std::move(dataset), std::move(classes),
          WithoutSecrets(fmt::format("{}: {}", name, ToYamlLine(options)))};
}

}  // namespace stoker
