#include "stoker/tools/commands/inspect_command.h"

#include <filesystem>
#include <system_error>

#include "stoker/base/json_text.h"
#include "stoker/tools/formats/file_format.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/recipe.h"
#include "stoker/tools/inspect/file_set.h"
#include "stoker/tools/inspect/inspect_file.h"
#include "stoker/tools/inspect/inspect_files.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/print.h"

namespace stoker {
namespace {

constexpr const char* kInspectAbout =
    "Says what a file holds, or what a recipe may contain.\n"
    "FILE is known by its content: .stoker, TFRecord, RecordIO, IDX, NumPy, safetensors, PyTorch's "
    "torch.save, HDF5, Parquet, Arrow, LMDB, tar, zip, a recipe (its pipelines stage by stage), a "
    "run or a checkpoint (directories); an N5 container by its attributes; by its name, or in a "
    "pipe (-) by its first lines: CSV, JSON lines, LIBSVM. What has a checksum or announces its "
    "size is read whole and checked. Of any other directory, and of a pattern such as 'x-*.tar' or "
    "x@8.stoker, all files are summed up. --grid shows a recipe's pictures as the network gets "
    "them.";
constexpr const char* kInspectFooter =
    "Example: stoker inspect --ops batch\n"
    "Exit: 0 whole, 1 unreadable or damaged, 2 wrong usage or recipe";

// Whether something of that name is in the directory, be it a link that leads nowhere.
bool HasName(const std::string& directory, const char* name) {
  if (directory.empty()) return false;
  std::error_code ignored;
  const auto status =
      std::filesystem::symlink_status(std::filesystem::path(directory) / name, ignored);
  return std::filesystem::exists(status);
}

// What is no recipe has no pipeline that makes pictures.
Status CheckIsRecipe(const std::string& path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const ProbedFile file, ProbePath(path));
  if (file.stored == FileKind::kText || file.stored == FileKind::kJson) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const FileFormat* format, FormatOf(file));
  if (format->recipe == nullptr) format = &kOtherFormat;
  return InvalidArgument(
      "{}: this is {}, and --grid shows the pictures that a recipe makes; give one that reads it, "
      "such as data: {{train: [{}, decode, resize: 64]}} (`decode` where pictures are encoded)",
      path, file.stored_name(), format->recipe(file));
}

}  // namespace

void AddInspectCommand(Program& program, std::function<Status(const InspectArguments&)> run) {
  auto [app, arguments] =
      program.Add<InspectArguments>("inspect", kInspectAbout, kInspectFooter, std::move(run));
  InspectArguments& to = arguments;
  CLI::Option* const file =
      app.add_option("FILE", to.file, "a file, directory or pattern")->type_name("");
  CLI::Option* const ops =
      app.add_option_function<std::string>(
             "--ops", [&to](const std::string& name) { to.ops = true, to.op = name; },
             "every operator of a pipeline with its options, or one")
          ->type_name("NAME")
          ->expected(0, 1)
          ->run_callback_for_default()
          ->excludes(file);
  app.add_option_function<std::string>(
         "--models", [&to](const std::string& name) { to.models = true, to.model = name; },
         "likewise models, optimizers and schedules")
      ->type_name("NAME")
      ->expected(0, 1)
      ->run_callback_for_default()
      ->excludes(file)
      ->excludes(ops);
  app.add_flag("--formats", to.formats, "every format of files, with the recipe line that reads it")
      ->excludes(file)
      ->excludes(ops);
  app.add_option("--grid", to.grid,
                 "write the first training batch of the recipe FILE side by side into this PNG, "
                 "and print its labels")
      ->type_name("PNG")
      ->needs(file);
  app.add_option("--samples", to.samples, "how many of a data file's first samples to show")
      ->type_name("N")
      ->check(AtLeastCheck(0))
      ->needs(file);
  AddSetOption(app, to.set).needs(file);
  AddJsonOption(app, to.json);
}

bool NeedsTrainer(const InspectArguments& arguments) {
  return arguments.models || HasName(arguments.file, "recipe.yaml") ||
         HasName(arguments.file, "manifest.json");
}

Status RunInspect(const InspectArguments& arguments) {
  if (arguments.ops) return PrintInspection(InspectOperators(arguments.op), arguments.json);
  if (arguments.formats) return PrintInspection(InspectFormats(), arguments.json);
  if (arguments.file.empty()) {
    return InvalidArgument(
        "FILE, --ops, --models or --formats is required; `stoker inspect --help` explains");
  }
  if (!arguments.grid.empty()) {
    STOKER_RETURN_IF_ERROR(CheckIsRecipe(arguments.file));
    return PrintInspection(InspectGrid(arguments.file, arguments.set, arguments.grid),
                           arguments.json);
  }
  if (!arguments.set.empty())
    return PrintInspection(InspectRecipe(arguments.file, arguments.set), arguments.json);
  STOKER_ASSIGN_OR_RETURN(const FileSet set, FilesOf(arguments.file));
  return PrintInspection(set.several ? InspectFiles(arguments.file, set.files)
                                     : InspectFile(set.files.front(), arguments.samples),
                         arguments.json);
}

Status PrintInspection(const Result<Inspection>& inspection, bool json) {
  if (!inspection.ok()) return inspection.status();
  STOKER_RETURN_IF_ERROR(PrintResult(json ? DumpJson(inspection->json) + "\n" : inspection->text));
  return inspection->damage;
}

}  // namespace stoker
