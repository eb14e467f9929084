#include "stoker/tools/inspect_command.h"

#include <filesystem>
#include <system_error>

#include "stoker/base/json_text.h"
#include "stoker/tools/arguments.h"
#include "stoker/tools/print.h"

namespace stoker {
namespace {

constexpr const char* kAbout =
    "Says what a file holds, or what a recipe may contain.\n"
    "FILE is known by its content: an IDX file, also inside gzip, a TFRecord file, a safetensors "
    "file, a file of PyTorch's torch.save, a tar or zip archive, a NumPy array, CSV, a recipe (its "
    "pipelines stage by stage), a run or a checkpoint (directories). What has a checksum or "
    "announces its size is read whole and checked. --grid shows a recipe's pictures as the network "
    "gets them.";
constexpr const char* kFooter =
    "Example: stoker inspect --ops batch\n"
    "Exit: 0 whole, 1 unreadable or damaged, 2 wrong usage or recipe";

}  // namespace

void AddInspectCommand(Program& program, std::function<Status(const InspectArguments&)> run) {
  auto [app, arguments] = program.Add<InspectArguments>("inspect", kAbout, kFooter, std::move(run));
  InspectArguments& to = arguments;
  CLI::Option* const file =
      app.add_option("FILE", to.file, "the file or directory to look into")->type_name("");
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
  app.add_option("--grid", to.grid,
                 "write the first training batch of the recipe FILE side by side into this PNG, "
                 "and print its labels")
      ->type_name("PNG")
      ->needs(file);
  app.add_option("--samples", to.samples, "how many of a data file's first samples to show")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->needs(file);
  AddSetOption(app, to.set).needs(file);
  AddJsonOption(app, to.json);
}

bool NeedsTrainer(const InspectArguments& arguments) {
  std::error_code ignored;
  return arguments.models ||
         (std::filesystem::is_directory(arguments.file, ignored) && !IsN5(arguments.file));
}

Status RunInspect(const InspectArguments& arguments) {
  if (arguments.ops) return PrintInspection(InspectOperators(arguments.op), arguments.json);
  if (arguments.file.empty()) {
    return InvalidArgument("FILE, --ops or --models is required; `stoker inspect --help` explains");
  }
  if (!arguments.grid.empty()) {
    return PrintInspection(InspectGrid(arguments.file, arguments.set, arguments.grid),
                           arguments.json);
  }
  if (!arguments.set.empty())
    return PrintInspection(InspectRecipe(arguments.file, arguments.set), arguments.json);
  return PrintInspection(InspectFile(arguments.file, arguments.samples), arguments.json);
}

Status PrintInspection(const Result<Inspection>& inspection, bool json) {
  if (!inspection.ok()) return inspection.status();
  STOKER_RETURN_IF_ERROR(PrintResult(json ? DumpJson(inspection->json) + "\n" : inspection->text));
  return inspection->damage;
}

}  // namespace stoker
