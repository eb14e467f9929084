#include "stoker/tools/commands/lr_find_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kLrFindAbout =
    "Finds learning rates for RECIPE by a range test.\n"
    "Trains a throw-away model with a rising rate and prints the loss over the rate, three "
    "suggestions, and the key to set. Stops where the loss "
    "diverges; writes no run.";
constexpr const char* kLrFindFooter =
    "Example: stoker lr-find recipes/fashion-mnist.yaml --to rates.svg\n"
    "Exit: 0 shown, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

}  // namespace

void AddLrFindCommand(Program& program, std::function<Status(const LrFindArguments&)> run) {
  auto [app, arguments] =
      program.Add<LrFindArguments>("lr-find", kLrFindAbout, kLrFindFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  AddMemoryOption(app);
  app.add_option("--low", arguments.low, "the first rate")
      ->type_name("LR")
      ->check(PositiveCheck())
      ->default_str("1e-7");
  app.add_option("--high", arguments.high, "the rate it rises to")
      ->type_name("LR")
      ->check(PositiveCheck())
      ->default_str("10");
  app.add_option("--steps", arguments.steps, "optimizer steps, at least 20")
      ->type_name("N")
      ->check(AtLeastCheck(20))
      ->default_str("100");
  app.add_flag("--linear", arguments.linear, "rise by the same amount, not by the same factor");
  app.add_option("--smooth", arguments.smooth, "weight of the past in the mean loss, 0..0.999")
      ->type_name("W")
      ->check(BetweenCheck(0, 0.999))
      ->default_str("0.9");
  AddChartOptions(app, arguments.chart);
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
