#include "stoker/tools/commands/doctor_command.h"

#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/trace_options.h"

namespace stoker {
namespace {

constexpr const char* kDoctorAbout =
    "Says what holds a training back, and which change helps how much.\n"
    "Of a RECIPE it trains for a while in a temporary run directory, measures input and step alone "
    "and tries changes; only --fix writes what stays. A PROGRAM in any language is run and watched "
    "from outside, then ended.";
constexpr const char* kDoctorFooter =
    "Example: stoker doctor -- python train.py --epochs 3\n"
    "Exit: 0 measured, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

Status Check(const DoctorArguments& arguments) {
  const int given =
      (arguments.recipe.empty() ? 0 : 1) + (arguments.program ? 1 : 0) + (arguments.pid ? 1 : 0);
  if (given != 1) {
    return InvalidArgument(
        "{}; give a RECIPE, or `-- PROGRAM`, or --pid N; `stoker doctor --help` explains",
        given == 0 ? "nothing to measure" : "one thing at a time");
  }
  if (arguments.program && arguments.program->empty())
    return InvalidArgument("no program follows `--`; `stoker doctor --help` explains");
  if (!arguments.program && arguments.no_gpu_counters) {
    return InvalidArgument(
        "--no-gpu-counters concerns a program that the doctor starts: `-- PROGRAM`");
  }
  if (arguments.recipe.empty() && (arguments.fix || !arguments.set.empty()))
    return InvalidArgument("{} changes a recipe, so it needs one",
                           arguments.fix ? "--fix" : "--set");
  if (arguments.recipe.empty() && arguments.trace.any()) {
    return InvalidArgument("{} records what Stoker itself does, so it needs a RECIPE",
                           GivenTraceFiles(arguments.trace).front().first);
  }
  return OkStatus();
}

}  // namespace

void AddDoctorCommand(Program& program, std::function<Status(const DoctorArguments&)> run,
                      std::function<Status(const DoctorArguments&)> watch) {
  const auto either = [run = std::move(run),
                       watch = std::move(watch)](const DoctorArguments& arguments) -> Status {
    STOKER_RETURN_IF_ERROR(Check(arguments));
    return arguments.recipe.empty() ? watch(arguments) : run(arguments);
  };
  auto [app, arguments] =
      program.Add<DoctorArguments>("doctor", kDoctorAbout, kDoctorFooter, either);
  AddRecipeArgument(app, arguments.recipe);
  program.TakeWordsAfterDashes(app, "PROGRAM", "run and watch this program with its arguments",
                               arguments.program);
  app.add_option("--pid", arguments.pid, "watch this process and what it started; it stays")
      ->type_name("N")
      ->check(AtLeastCheck(1));
  app.add_option("--seconds", arguments.seconds, "about how long to measure, 1..86400")
      ->type_name("S")
      ->check(BetweenCheck(1, 86400))
      ->default_str("60");
  app.add_flag("--no-gpu-counters", arguments.no_gpu_counters,
               "load nothing into PROGRAM; its kernels and copies are not counted")
      ->group(kSeldomGroup);
  CLI::Option* const fix = app.add_flag(
      "--fix", arguments.fix, "try each change too; write what helps into RECIPE.fixed.yaml");
  app.add_flag("--allow-accuracy-changes", arguments.allow_accuracy_changes,
               "with --fix: also changes that alter what is learned")
      ->needs(fix);
  AddSetOption(app, arguments.set).excludes(fix);
  AddAllowCodeOption(app);
  AddServeOptions(app, arguments.serve);
  AddJsonOption(app, arguments.json);
  AddTraceOptions(app, arguments.trace, "the beginning");
  app.add_option("--rate-in-folder", arguments.rate_in_folder)->group("");
}

}  // namespace stoker
