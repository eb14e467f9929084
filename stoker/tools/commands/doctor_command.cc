#include "stoker/tools/commands/doctor_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kAbout =
    "Says what holds a recipe's training back, and which change helps how much.\n"
    "Trains for a while in a temporary run directory, then measures the input and the step alone "
    "and tries changes on them. Without `model:` it measures the input only. Writes nothing that "
    "stays, but with --fix RECIPE.fixed.yaml; caches of the recipe are filled as in a run.";
constexpr const char* kFooter =
    "Example: stoker doctor recipes/fashion-mnist.yaml --fix\n"
    "Exit: 0 measured, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

}  // namespace

void AddDoctorCommand(Program& program, std::function<Status(const DoctorArguments&)> run) {
  auto [app, arguments] = program.Add<DoctorArguments>("doctor", kAbout, kFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  app.add_option("--seconds", arguments.seconds, "about how long to measure, 1..86400")
      ->type_name("S")
      ->check(BetweenCheck(1, 86400))
      ->default_str("60");
  CLI::Option* const fix =
      app.add_flag("--fix", arguments.fix,
                   "also try each change in turn with the recipe as it was, and write "
                   "those that help beyond noise into a copy beside it");
  app.add_flag("--allow-accuracy-changes", arguments.allow_accuracy_changes,
               "with --fix: also changes that alter what is learned")
      ->needs(fix);
  AddSetOption(app, arguments.set).excludes(fix);
  AddAllowCodeOption(app);
  AddJsonOption(app, arguments.json);
  app.add_option("--rate-in-folder", arguments.rate_in_folder)->group("");
}

}  // namespace stoker
