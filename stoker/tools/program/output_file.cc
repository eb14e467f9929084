#include "stoker/tools/program/output_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "stoker/data/core/files_read.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/io/atomic_file.h"
#include "stoker/run/published_progress.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/run_environment.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// A folder with a recipe.yaml of its own is no run yet: a run has more beside it from its begin.
bool IsRun(const fs::path& folder) {
  const RunPaths run{folder};
  return Exists(run.recipe()) && (Exists(run.lock()) || Exists(run.metrics()) ||
                                  Exists(run.choices()) || Exists(run.checkpoints()));
}

// What the file `name` is to a run (run/run_directory.h); empty if a run has none of that
// name.
std::string_view MeaningInRun(const fs::path& run, const std::string& name) {
  const RunPaths paths{run};
  const std::pair<std::string, std::string_view> kept[] = {
      {paths.recipe(), "the recipe"},
      {paths.weights(), "the final weights"},
      {paths.metrics(), "the metrics"},
      {paths.metrics() + ".safetensors", "the metrics"},
      {paths.checkpoints(), "the folder of checkpoints"},
      {paths.allowed_changes(), "the changes that were allowed,"},
      {paths.choices(), "what the tuner chose,"},
      {paths.tuning(), "what the tuner tried,"},
      {EnvironmentPath(run), "the versions and the machine"},
      {paths.data(), "the marks of the data files"},
      {paths.log(), "the log"},
      {paths.summary(), "the summary"},
      {paths.profile(), "the profile"},
      {paths.lock(), "the lock"},
      {ProgressPath(run), "the progress"},
      {(run / "report.html").string(), "the report"},
      {(run / "tensors.jsonl").string(), "the figures of the tensors"}};
  const auto found =
      std::ranges::find(kept, (run / name).string(), [](const auto& entry) { return entry.first; });
  if (found != std::end(kept)) return found->second;
  if (name.starts_with("events.out.tfevents.")) return "a log for TensorBoard";
  const bool trace = name.starts_with("trace-") && name.ends_with(".json");
  return trace ? "a trace" : std::string_view();
}

// Without `.`, `..` and links, also where the file itself is not there yet.
fs::path Resolved(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path resolved = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : resolved;
}

// The name itself, be it a link or not.
fs::path NameItself(const fs::path& path) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored);
  return Resolved(absolute.parent_path()) / absolute.filename();
}

Status CheckName(std::string_view option, const std::string& given, const fs::path& file) {
  const fs::path folder = file.parent_path();
  const std::string_view meaning = MeaningInRun(folder, file.filename().string());
  if (!meaning.empty() && IsRun(folder)) {
    return InvalidArgument(
        "{} {}: this is {} of the run {}, which only training writes; give another name", option,
        given, meaning, folder.string());
  }
  for (fs::path at = folder; at.has_relative_path(); at = at.parent_path()) {
    const fs::path run = at.parent_path();
    if (RunPaths{run}.checkpoints() != at.string() || !IsRun(run)) continue;
    return InvalidArgument(
        "{} {}: this is in the checkpoints of the run {}, which only training writes; give another "
        "name",
        option, given, run.string());
  }
  return OkStatus();
}

bool NamesAnOutput(const CLI::Option& option) {
  constexpr std::array<std::string_view, 5> kOutputs = {"--to", "--grid", "--trace", "--flame",
                                                        "--folded"};
  return std::ranges::find(kOutputs, option.get_name()) != kOutputs.end();
}

bool NamesAnInput(const CLI::Option& option) {
  constexpr std::array<std::string_view, 5> kInputs = {"RECIPE", "RUN", "FROM", "FILE", "SOURCE"};
  return std::ranges::find(kInputs, option.get_name()) != kInputs.end();
}

// kInvalidArgument if another argument names the file that `output` does.
Status CheckIsNoArgument(const CLI::App& command, const CLI::Option& output,
                         const std::string& path) {
  const std::optional<FileId> target = FileIdOf(path);
  if (!target) return OkStatus();
  for (const CLI::Option* option : command.get_options()) {
    if (!NamesAnInput(*option)) continue;
    for (const std::string& value : option->results()) {
      if (FileIdOf(value) != target) continue;
      return InvalidArgument("{} {}: the command reads this file, as {}; give another name",
                             output.get_name(), path, option->get_name());
    }
  }
  return OkStatus();
}

std::vector<std::string> Given(const CLI::App& command, const char* option) {
  const CLI::Option* const found = command.get_option_no_throw(option);
  return found == nullptr ? std::vector<std::string>() : found->results();
}

// What has the recipe that `command` reads: its file, or a run. Empty if it reads none.
std::string RecipeOf(const CLI::App& command) {
  for (const char* const name : {"RECIPE", "RUN", "FILE"}) {
    if (std::vector<std::string> given = Given(command, name); given.size() == 1)
      return std::move(given.front());
  }
  return {};
}

// kInvalidArgument if the recipe of `command` names the file, or its pipelines read it.
Status CheckIsNotInRecipe(const CLI::App& command, std::string_view option,
                          const std::string& path) {
  const std::string given = RecipeOf(command);
  const bool recipe_is_kept = command.get_name() != "plot" && command.get_name() != "vocabulary";
  if (given.empty() || !recipe_is_kept || !FileIdOf(path)) return OkStatus();
  std::error_code ignored;
  const bool is_run = fs::is_directory(given, ignored);
  const std::string file = is_run ? RunPaths{given}.recipe() : given;
  Result<ConfigNode> recipe = ReadRecipe(file, Given(command, "--set"));
  if (!recipe.ok()) return OkStatus();
  if (is_run) UseLearnedOf(given, *recipe);  // rather than learn from the data once more
  const fs::path folder = fs::path(file).parent_path();
  // The pipelines are known only with their plug-ins; the command itself reports what is wrong with
  // these.
  static_cast<void>(LoadPlugins(*recipe, folder));
  STOKER_RETURN_IF_ERROR(CheckNotNamed(*recipe, folder, path, option));
  if (const Result<DataRecipe> data = ParseDataSection(*recipe, folder); data.ok()) {
    STOKER_RETURN_IF_ERROR(CheckIsNotRead(option, path, *data));
    return data->eval ? CheckNotRead(*data->eval, path, option) : OkStatus();
  }
  // The files of data.train need not be there for a run that is only asked.
  const Result<Dataset> eval = ParseEvalPipeline(*recipe, folder);
  return eval.ok() ? CheckNotRead(*eval, path, option) : OkStatus();
}

}  // namespace

Status CheckIsOfNoRun(std::string_view option, const std::string& path) {
  STOKER_RETURN_IF_ERROR(CheckName(option, path, NameItself(path)));
  return CheckName(option, path, Resolved(path));
}

Status CheckOutputs(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!NamesAnOutput(*option)) continue;
    for (const std::string& path : option->results()) {
      if (path == "-") {
        return InvalidArgument(
            "{} -: standard output has no name here; leave the option out, or write ./- for a file "
            "of that name",
            option->get_name());
      }
      if (const Status device = CheckNameIsOfNoDevice(path); !device.ok())
        return InvalidArgument("{} {}", option->get_name(), device.message());
      STOKER_RETURN_IF_ERROR(CheckIsOfNoRun(option->get_name(), path));
      STOKER_RETURN_IF_ERROR(CheckIsNoArgument(command, *option, path));
      STOKER_RETURN_IF_ERROR(CheckIsNotInRecipe(command, option->get_name(), path));
    }
  }
  return OkStatus();
}

bool AreOneFile(const std::string& one, const std::string& other) {
  if (Resolved(one) == Resolved(other)) return true;
  const std::optional<FileId> file = FileIdOf(one);
  return file && FileIdOf(other) == file;
}

bool IsInside(const std::string& path, const std::string& folder) {
  const fs::path above = Resolved(folder);
  for (fs::path at = Resolved(path); at.has_relative_path(); at = at.parent_path()) {
    if (at.parent_path() == above) return true;
  }
  return false;
}

Status CheckIsNotRead(std::string_view option, const std::string& path, const DataRecipe& data) {
  STOKER_RETURN_IF_ERROR(CheckNotRead(data.train, path, option));
  return CheckNotNamed(data.filled, data.root, path, option);
}

}  // namespace stoker
