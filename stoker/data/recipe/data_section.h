// The section `data:` of a recipe without its pipelines: what those who build them have in common.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/options.h"
#include "stoker/base/status.h"
#include "stoker/data/recipe/remote_settings.h"

namespace stoker {

// The keys of the section that are not pipelines.
struct DataOptions {
  static constexpr std::string_view kName = "data";
  std::filesystem::path root = ".";
  std::vector<std::string> classes;
  RemoteSettings remote;

  static void Describe(OptionTable<DataOptions>& table);
};
template <>
const std::vector<Option>& OptionsOf<DataOptions>();

// The section, which must be there and a map.
Result<const ConfigNode*> DataSection(const ConfigNode& recipe);

// Reads those keys and puts what is said of files on servers in force, where that is right. An
// unknown key is an error. All mistakes are found (problems.h); `options` holds what was read
// beside them.
Status ReadDataOptions(const ConfigNode& data, DataOptions& options);

// The same, or nothing.
Result<DataOptions> ParseDataOptions(const ConfigNode& data);

// A root that stands in the recipe is relative to the recipe's folder, one given on the command
// line to the working directory.
std::filesystem::path AbsoluteRoot(const ConfigNode& data, const std::filesystem::path& root,
                                   const std::filesystem::path& recipe_folder);

// The pipeline data.eval as it stands in the recipe, and the folder its paths are relative to.
// Errors: also kFailedPrecondition if the recipe has none, kInvalidArgument if it is no list
// with an entry.
struct EvalList {
  const ConfigNode* list = nullptr;  // of the recipe
  std::filesystem::path root;
};
Result<EvalList> FindEvalList(const ConfigNode& recipe, const std::filesystem::path& recipe_folder);

}  // namespace stoker
