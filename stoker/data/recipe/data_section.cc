#include "stoker/data/recipe/data_section.h"

#include <algorithm>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/learn/requests.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/learned_section.h"

namespace stoker {
namespace {

// The keys that are not options. `train` and `eval` are pipelines, which begin with what the others
// say.
constexpr std::string_view kPipelines[] = {"train", "eval", "source", "split", "features"};

}  // namespace

void DataOptions::Describe(OptionTable<DataOptions>& table) {
  table
      .Field(
          "root", &DataOptions::root,
          "the folder that paths in the pipelines are relative to; itself relative to the recipe")
      .Field("classes", &DataOptions::classes,
             "what the labels 0, 1, ... are called; empty: as the source or `lookup` of train says")
      .Field("learned", &DataOptions::learned,
             "the learned.json of a run, whose values stages with `auto` take in place of learning "
             "them; relative to the recipe");
}

template <>
const std::vector<Option>& OptionsOf<DataOptions>() {
  static const auto options = WithObjectsBehind<DataOptions>({ObjectOption(
      "remote", &DataOptions::remote,
      "how files on servers are read: {cache: DIR, endpoint: URL, ...}, see docs/remote.md")});
  return options;
}

Result<const ConfigNode*> DataSection(const ConfigNode& recipe) {
  const ConfigNode* data = recipe.Find("data");
  if (data == nullptr) {
    return InvalidArgument(
        "{}: the section 'data' is missing; it holds the pipelines, such as data: {{train: [idx: "
        "{{...}}, shuffle, batch]}}",
        recipe.location.ToString());
  }
  if (data->kind != ConfigNode::Kind::kMap) {
    return InvalidArgument("{}: 'data' is {}; it must be a map with root, train, eval and classes",
                           data->location.ToString(), data->KindName());
  }
  return data;
}

Status ReadDataOptions(const ConfigNode& data, DataOptions& options) {
  ConfigNode rest = data;
  std::erase_if(rest.entries, [](const ConfigNode::Entry& entry) {
    return std::ranges::find(kPipelines, entry.key) != std::end(kPipelines);
  });
  std::vector<std::string> names(std::begin(kPipelines), std::end(kPipelines));
  for (const Option& option : OptionsOf<DataOptions>()) names.push_back(option.name);
  Problems problems;
  problems.Add(CheckKeys(rest, "data", "key", names));
  std::erase_if(rest.entries, [&](const ConfigNode::Entry& entry) {
    return std::ranges::find(names, entry.key) == names.end();
  });
  problems.Add(ParseOptionsOf(rest, options));
  options.remote.Apply();
  return problems.ToStatus();
}

Result<DataOptions> ParseDataOptions(const ConfigNode& data) {
  DataOptions options;
  STOKER_RETURN_IF_ERROR(ReadDataOptions(data, options));
  return options;
}

std::filesystem::path AbsoluteRoot(const ConfigNode& data, const std::filesystem::path& root,
                                   const std::filesystem::path& recipe_folder) {
  const ConfigNode* node = data.Find("root");
  if (IsRemotePath(root.native())) return root;
  const bool from_command_line = node != nullptr && node->location.line == 0;
  const std::filesystem::path path = from_command_line ? root : recipe_folder / root;
  std::error_code error;  // where the working directory is gone, a relative path is all there is
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

Result<EvalList> FindEvalList(const ConfigNode& recipe,
                              const std::filesystem::path& recipe_folder) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode* data, DataSection(recipe));
  STOKER_ASSIGN_OR_RETURN(const DataOptions options, ParseDataOptions(*data));
  STOKER_RETURN_IF_ERROR(CheckShared(*data));
  std::optional<ConfigNode> eval = WholePipeline(*data, "eval");
  if (!eval) {
    return FailedPrecondition(
        "the recipe has no pipeline data.eval; add one (--set 'data.eval=[...]' does for a run)");
  }
  if (eval->kind != ConfigNode::Kind::kList || eval->items.empty()) {
    return InvalidArgument(
        "{}: data.eval is a list that begins with a source, such as [idx: {{images: ...}}, "
        "normalize, batch]; here is {}",
        eval->location.ToString(), eval->KindName());
  }
  const std::filesystem::path root = AbsoluteRoot(*data, options.root, recipe_folder);
  STOKER_ASSIGN_OR_RETURN(const auto learned, LearnedFor(recipe, *eval, root, recipe_folder));
  STOKER_ASSIGN_OR_RETURN(ConfigNode list, FillInLearned(*eval, learned.get()));
  return EvalList{std::move(list), root};
}

}  // namespace stoker
