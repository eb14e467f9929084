#include "stoker/tools/commands/check_command.h"

#include <filesystem>
#include <utility>

#include "stoker/base/config_parse.h"
#include "stoker/base/problems.h"
#include "stoker/data/recipe/memory_options.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/recipe/recipe_text.h"
#include "stoker/io/side_files.h"
#include "stoker/tools/commands/inspect_command.h"
#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kCheckAbout =
    "Lists all that is wrong with a recipe, and trains nothing.\n"
    "Reads every key, builds both pipelines, opens their files, reads a first batch of each, makes "
    "the model, its first weights, the optimizer, the schedule, the loss and the metrics, and puts "
    "the batches through them. Each finding names file, line and column. Writes nothing but "
    "copies of files on servers in their cache.";
constexpr const char* kCheckFooter =
    "Example: stoker check recipes/fashion-mnist.yaml --json\n"
    "Exit: 0 nothing is wrong but warnings, 1 findings or no recipe, 2 wrong usage";

// The recipe with as many of the assignments as can be made.
Status ReadAll(const CheckArguments& arguments, ConfigNode& recipe) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadRecipeText(arguments.recipe));
  STOKER_ASSIGN_OR_RETURN(ParsedYaml parsed, ParseYamlPastRepeats(text, arguments.recipe));
  recipe = std::move(parsed.root);
  Problems problems;
  problems.Add(parsed.repeated);
  problems.Add(ApplyAssignments(recipe, arguments.set));
  problems.Add(CheckSections(recipe));
  return problems.ToStatus();
}

}  // namespace

void AddCheckCommand(Program& program, std::function<Status(const CheckArguments&)> run) {
  auto [app, arguments] =
      program.Add<CheckArguments>("check", kCheckAbout, kCheckFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  AddSetOption(app, arguments.set);
  AddJsonOption(app, arguments.json);
}

Status RunCheck(const CheckArguments& arguments, const CheckOfSections& check_sections) {
  ConfigNode recipe;
  const Status read = ReadAll(arguments, recipe);
  // Without the file there is nothing to say of its lines.
  if (!read.ok() && read.code() != StatusCode::kInvalidArgument) return read;
  RecipeCheck check(arguments.recipe, recipe);
  check.Add(read, "");
  if (recipe.kind == ConfigNode::Kind::kMap) {
    // A mistake in it is a finding of the section train.
    static_cast<void>(WishForMemoryOf(recipe));
    WriteNoSideFiles();
    SetPluginPolicy(PluginPolicy::kLeaveOut);
    check.Add(LoadPlugins(recipe, std::filesystem::path(arguments.recipe).parent_path()),
              "plugins");
    check_sections(recipe, check);
  }
  return PrintInspection(check.Report(), arguments.json);
}

Status RunDataCheck(const CheckArguments& arguments) {
  return RunCheck(arguments, [&](const ConfigNode& recipe, RecipeCheck& check) {
    static_cast<void>(
        CheckData(recipe, std::filesystem::path(arguments.recipe).parent_path(), check));
    check.NotChecked(
        "the sections model and train, for stoker-train is not there, which knows them; `stoker "
        "train` says where it is looked for and how to get it");
  });
}

}  // namespace stoker
