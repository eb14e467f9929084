#include "stoker/tools/commands/scale_command.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr int64_t kMostRanks = 4096;

constexpr const char* kScaleAbout =
    "Trains RECIPE in 1, 2, 4 processes, and says what more of them bring.\n"
    "Each number of ranks trains alone, one after the other, as `stoker launch -n N -- train` "
    "does. Prints speed, efficiency, waits and accuracy, plots the speed, and says where more "
    "ranks lose and what helps.";
constexpr const char* kScaleFooter =
    "Example: stoker scale recipes/fashion-mnist.yaml --ranks 1,2 --batch 128,1024\n"
    "Exit: 0 measured, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

// A list in which no number is there twice.
Status CheckList(std::string_view option, const std::vector<int64_t>& numbers) {
  std::set<int64_t> seen;
  for (const int64_t number : numbers) {
    if (!seen.insert(number).second)
      return InvalidArgument("{}: {} is there twice; give each number once", option, number);
  }
  return OkStatus();
}

Status Check(const ScaleArguments& arguments) {
  STOKER_RETURN_IF_ERROR(CheckList("--ranks", arguments.ranks));
  STOKER_RETURN_IF_ERROR(CheckList("--batch", arguments.batches));
  const int64_t most = *std::ranges::max_element(arguments.ranks);
  for (const int64_t batch : arguments.batches) {
    if (batch >= most) continue;
    return InvalidArgument(
        "--batch {}: is what a step of all ranks reads, and {} ranks would have less than a row "
        "each; give a batch of {} or more, or fewer ranks",
        batch, most, most);
  }
  return OkStatus();
}

}  // namespace

void AddScaleCommand(Program& program, std::function<Status(const ScaleArguments&)> run) {
  auto [app, arguments] = program.Add<ScaleArguments>(
      "scale", kScaleAbout, kScaleFooter, [run = std::move(run)](const ScaleArguments& given) {
        const Status status = Check(given);
        return status.ok() ? run(given) : status;
      });
  AddRecipeArgument(app, arguments.recipe).required();
  app.add_option("--ranks", arguments.ranks, "numbers of processes, each 1..4096")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(BetweenCheck(1, kMostRanks))
      ->default_str("1,2,4");
  app.add_option("--batch", arguments.batches, "batches of all ranks, each in turn")
      ->type_name("B,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(AtLeastCheck(1))
      ->default_str("the recipe's");
  app.add_option("--epochs", arguments.epochs, "of each run")
      ->type_name("E")
      ->check(AtLeastCheck(1))
      ->default_str("1");
  app.add_option("--steps", arguments.steps, "at most so many steps in each run")
      ->type_name("S")
      ->check(AtLeastCheck(1));
  app.add_option("--reach", arguments.reach, "say how long each took to get there")
      ->type_name("NAME=VALUE")
      ->default_str("what all did");
  app.add_flag("--share-cpus", arguments.share_cpus, "each process may use all CPUs");
  app.add_option("--keep", arguments.keep, "keep the runs in DIR, a new directory")
      ->type_name("DIR");
  AddSetOption(app, arguments.set);
  AddAllowCodeOption(app);
  AddChartOptions(app, arguments.chart);
  AddJsonOption(app, arguments.json);
}

}  // namespace stoker
