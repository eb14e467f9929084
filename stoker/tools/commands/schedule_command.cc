#include "stoker/tools/commands/schedule_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kScheduleAbout =
    "Plots the learning rate and the momentum of a recipe's steps.\n"
    "Trains nothing. With --steps-per-epoch the data of the recipe is not looked at.";
constexpr const char* kScheduleFooter =
    "Example: stoker schedule recipes/fashion-mnist.yaml --to schedule.svg\n"
    "Exit: 0 shown, 1 failed, 2 wrong usage or recipe";

}  // namespace

void AddScheduleCommand(Program& program, std::function<Status(const ScheduleArguments&)> run) {
  auto [app, arguments] =
      program.Add<ScheduleArguments>("schedule", kScheduleAbout, kScheduleFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  CLI::Option* const steps =
      app.add_option("--steps-per-epoch", arguments.steps_per_epoch,
                     "optimizer steps of an epoch; else counted from the data")
          ->type_name("N")
          ->check(AtLeastCheck(1));
  app.add_option("--batch", arguments.batch,
                 "samples of a step, for lr_scaling; else those of the recipe's pipeline")
      ->type_name("N")
      ->check(AtLeastCheck(1))
      ->needs(steps);
  app.add_flag("--log", arguments.log, "draw the rate on an axis of powers of ten");
  AddChartOptions(app, arguments.chart);
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
