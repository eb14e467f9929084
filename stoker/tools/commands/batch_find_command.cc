#include "stoker/tools/commands/batch_find_command.h"

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr const char* kBatchFindAbout =
    "Finds the largest batch for RECIPE, and one about as fast.\n"
    "Trains a throw-away model on copies of the first batch: 2 samples, then twice as many as "
    "long as they fit, then between. Writes no run.";
constexpr const char* kBatchFindFooter =
    "Example: stoker batch-find recipes/fashion-mnist.yaml --memory 2GiB\n"
    "Exit: 0 found, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

}  // namespace

void AddBatchFindCommand(Program& program, std::function<Status(const BatchFindArguments&)> run) {
  auto [app, arguments] = program.Add<BatchFindArguments>("batch-find", kBatchFindAbout,
                                                          kBatchFindFooter, std::move(run));
  AddRecipeArgument(app, arguments.recipe).required();
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  app.add_option("--memory", arguments.memory_bytes,
                 "what weights, gradients, optimizer and activations may take together")
      ->type_name("BYTES")
      ->transform(MemorySize())
      ->default_str("4/5 of the container's, or the device's");
  app.add_option("--most", arguments.most, "largest batch to try")
      ->type_name("N")
      ->check(AtLeastCheck(1))
      ->default_str("8192");
  app.add_option("--seconds", arguments.seconds, "how long each size is timed, 0..3600")
      ->type_name("S")
      ->check(BetweenCheck(0, 3600))
      ->default_str("0.5");
  AddChartOptions(app, arguments.chart);
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
