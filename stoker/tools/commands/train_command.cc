#include "stoker/tools/commands/train_command.h"

#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/trace_options.h"

namespace stoker {
namespace {

constexpr const char* kTrainAbout =
    "Trains the model of RECIPE and stores the run.\n"
    "A run is a directory with the resolved recipe, metrics.jsonl, checkpoints, and at the end "
    "weights.safetensors. SIGINT, SIGTERM or SIGUSR1 ends the "
    "step and writes a checkpoint; a second one ends at once. A signal before step 1 leaves no new "
    "run. A resumed run ends with the same bytes.";
constexpr const char* kTrainFooter =
    "Example: stoker train recipes/fashion-mnist.yaml --set train.epochs=1\n"
    "Exit: 0 trained, 1 failed, 2 wrong usage, 130 SIGINT, 138 SIGUSR1, 143 SIGTERM";

Status CheckAndRun(const TrainArguments& arguments,
                   const std::function<Status(const TrainArguments&)>& run) {
  if (arguments.recipe.empty() && !(arguments.resume && !arguments.run.empty())) {
    return InvalidArgument(
        "RECIPE is required (only --resume with --run does without); "
        "`stoker train --help` explains");
  }
  if (arguments.allow_changes && !arguments.resume) {
    return InvalidArgument(
        "--allow-changes only means something with --resume; `stoker train --help` explains");
  }
  if (arguments.requeue && arguments.run.empty()) {
    return InvalidArgument(
        "--requeue: the job that Slurm starts again must find the run; give --run DIR");
  }
  return run(arguments);
}

}  // namespace

void AddTrainCommand(Program& program, std::function<Status(const TrainArguments&)> run) {
  auto [app, arguments] = program.Add<TrainArguments>(
      "train", kTrainAbout, kTrainFooter,
      [run = std::move(run)](const TrainArguments& given) { return CheckAndRun(given, run); });
  AddRecipeArgument(app, arguments.recipe);
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  AddMemoryOption(app);
  app.add_option("--run,--run-dir", arguments.run, "directory of the run")
      ->type_name("DIR")
      ->default_str("a new one under runs/");
  app.add_flag("--resume", arguments.resume,
               "continue the run in DIR, or RECIPE's newest under runs/");
  app.add_flag("--allow-changes", arguments.allow_changes,
               "resume although the recipe or a data file has changed");
  app.add_option("--check-data", arguments.check_data,
                 "notice any changed byte (at start and resume)")
      ->type_name("full")
      ->check(CLI::IsMember({"places", "full"}).description(""));
  app.add_flag("--independent", arguments.independent,
               "train a run of its own, though a launcher has started several processes")
      ->group(kSeldomGroup);
  app.add_flag("--requeue", arguments.requeue,
               "after SIGUSR1, have Slurm queue the job again; it then resumes DIR")
      ->group(kSeldomGroup);
  app.add_flag("--print-recipe", arguments.print_recipe,
               "print the recipe with every default, and train nothing");
  app.add_flag("--quiet", arguments.quiet, "print only errors and the final lines");
  AddServeOptions(app, arguments.serve);
  AddTraceOptions(app, arguments.trace, "the first step");
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
