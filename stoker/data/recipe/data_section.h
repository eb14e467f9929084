// The section `data:` of a recipe without its pipelines, shared by the code that builds them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
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
  std::filesystem::path learned;

  static void Describe(OptionTable<DataOptions>& table);
};
template <>
const std::vector<Option>& OptionsOf<DataOptions>();

// Returns the section, which must exist and be a map.
Result<const ConfigNode*> DataSection(const ConfigNode& recipe);

// Reads those keys and applies valid settings for files on servers. An unknown key is an error.
// Reports all mistakes (problems.h); `options` holds the valid rest.
Status ReadDataOptions(const ConfigNode& data, DataOptions& options);

// Returns the same, or the first error.
Result<DataOptions> ParseDataOptions(const ConfigNode& data);

// Returns the absolute root: one in the recipe is relative to the recipe's folder, one from the
// command line to the working directory.
std::filesystem::path AbsoluteRoot(const ConfigNode& data, const std::filesystem::path& root,
                                   const std::filesystem::path& recipe_folder);

// The pipeline data.eval, whole, and the folder that its paths are relative to.
// Errors: also kFailedPrecondition if the recipe has none, kInvalidArgument if it is not a list
// with an entry.
struct EvalList {
  ConfigNode list;
  std::filesystem::path root;
};
Result<EvalList> FindEvalList(const ConfigNode& recipe, const std::filesystem::path& recipe_folder);

}  // namespace stoker
