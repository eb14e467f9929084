#include "stoker/tools/commands/features_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "stoker/base/json_text.h"
#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/features/features_text.h"
#include "stoker/tools/features/recipe_draft.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr const char* kFeaturesAbout =
    "Says what is in the columns of a CSV file, and drafts a recipe.\n"
    "Reads all rows once. With --target it also says how much of it each column tells by itself, "
    "which one is the target in another form, and how to use them. --to table.yaml writes a recipe "
    "that `stoker train` takes, --to table.svg draws each column.";
constexpr const char* kFeaturesFooter =
    "Example: stoker features diamonds.csv --target price --to price.yaml\n"
    "Exit: 0 shown, 1 failed, 2 wrong usage";

bool IsRecipe(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

CLI::Validator WhatIsWritten() {
  return {[](std::string& path) -> std::string {
            if (IsRecipe(path) || path.ends_with(".svg")) return {};
            return fmt::format("{} ends in neither .yaml (a recipe) nor .svg (a picture)",
                               Printable(path));
          },
          ""};
}

// data.root and the files there. The root is relative to the folder of the recipe, so that both can
// be moved together.
struct Place {
  std::string root, files;
};

Result<Place> PlaceOf(const std::string& files, const std::string& recipe) {
  namespace fs = std::filesystem;
  if (IsRemotePath(files)) return Place{".", files};
  // The root is a path, so a pattern stays in the name of the files.
  const bool is_pattern =
      fs::path(files).parent_path().string().find_first_of("*?[{@") != std::string::npos;
  const fs::path root = is_pattern ? fs::path(".") : fs::path(files).parent_path();
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return NotFound("the working directory: {}", error.message());
  const fs::path relative = fs::proximate(here / root, (here / recipe).parent_path(), error);
  if (error) return NotFound("{}: {}", root.string(), error.message());
  return Place{relative.empty() ? "." : relative.string(),
               is_pattern ? files : fs::path(files).filename().string()};
}

Status CheckArguments(const FeaturesArguments& arguments) {
  if (arguments.target.empty() && arguments.meaning != TargetMeaning::kAuto)
    return InvalidArgument("--as says what the target is, and --target names none");
  for (const std::string& to : arguments.to) {
    if (!IsRecipe(to)) continue;
    const std::string name = Printable(to);
    if (arguments.target.empty())
      return InvalidArgument("--to {}: a recipe needs --target, the column to tell", name);
    if (arguments.file == "-") {
      return InvalidArgument("--to {}: a recipe needs a file, and standard input is read once",
                             name);
    }
    // It may have been edited since it was drafted.
    if (std::error_code error; std::filesystem::is_regular_file(to, error))
      return InvalidArgument("--to {}: is there already; remove it, or give another name", name);
  }
  return OkStatus();
}

// What is to be written is made first, so that an error leaves no part of it.
Status WriteAll(const FeaturesArguments& arguments, const TableProfile& table,
                const std::vector<ColumnChoice>& choices) {
  std::vector<std::string> texts;
  for (const std::string& to : arguments.to) {
    if (IsRecipe(to)) {
      STOKER_ASSIGN_OR_RETURN(const Place place, PlaceOf(arguments.file, to));
      STOKER_ASSIGN_OR_RETURN(texts.emplace_back(),
                              DraftRecipe(table, choices, place.root, place.files));
    } else {
      texts.push_back(FeaturesSvg(table, choices));
    }
  }
  for (size_t i = 0; i < texts.size(); ++i)
    STOKER_RETURN_IF_ERROR(WriteFileAtomically(arguments.to[i], texts[i]));
  return OkStatus();
}

std::string WhatNext(const FeaturesArguments& arguments) {
  for (const std::string& to : arguments.to) {
    if (IsRecipe(to)) return fmt::format("next: stoker train {}\n", ShellWord(to));
  }
  if (!arguments.target.empty()) return "a recipe for it: --to FILE.yaml\n";
  return "what each column tells of one of them: --target NAME\n";
}

Json WithChoices(const TableProfile& table, const std::vector<ColumnChoice>& choices) {
  Json json = table.ToJson();
  for (size_t i = 0; i < choices.size(); ++i) {
    json["columns"][i]["use"] = NameOf(choices[i].use);
    if (!choices[i].why.empty()) json["columns"][i]["why"] = choices[i].why;
  }
  return json;
}

}  // namespace

void AddFeaturesCommand(Program& program) {
  auto [app, arguments] =
      program.Add<FeaturesArguments>("features", kFeaturesAbout, kFeaturesFooter, RunFeatures);
  app.add_option("FILE", arguments.file, "CSV or TSV, plain or compressed, here or on a server")
      ->type_name("")
      ->required();
  app.add_option("--target", arguments.target, "the column that a model is to tell")
      ->type_name("NAME");
  const std::map<std::string, TargetMeaning> meanings = {{"number", TargetMeaning::kNumber},
                                                         {"class", TargetMeaning::kClass}};
  app.add_option("--as", arguments.meaning, "what the target is: a number, or one of some classes")
      ->type_name("number|class")
      ->transform(CLI::Validator(
          [meanings](std::string& given) -> std::string {
            const auto meaning = meanings.find(given);
            if (meaning == meanings.end())
              return fmt::format("{} is not number or class", Printable(given));
            given = std::to_string(static_cast<int>(meaning->second));
            return {};
          },
          ""))
      ->default_str("by its values");
  app.add_option("--to", arguments.to,
                 "write a recipe (.yaml) or a picture (.svg); may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(WhatIsWritten());
  AddJsonOption(app, arguments.json);
}

Status RunFeatures(const FeaturesArguments& arguments) {
  STOKER_RETURN_IF_ERROR(CheckArguments(arguments));
  STOKER_ASSIGN_OR_RETURN(const TableProfile table,
                          ProfileTable(arguments.file, arguments.target, arguments.meaning));
  const std::vector<ColumnChoice> choices = ChooseColumns(table);
  STOKER_RETURN_IF_ERROR(WriteAll(arguments, table, choices));
  if (arguments.json) return PrintResult(DumpJson(WithChoices(table, choices)) + "\n");
  return PrintResult(FeaturesText(table, choices) + WhatNext(arguments));
}

}  // namespace stoker
