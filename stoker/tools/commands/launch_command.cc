#include "stoker/tools/commands/launch_command.h"

#include <algorithm>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/tools/program/arguments.h"

namespace stoker {
namespace {

constexpr int kMostRanks = 4096;

constexpr const char* kLaunchAbout =
    "Runs a command of stoker in several processes on this machine.\n"
    "Each has its rank in the environment, as under torchrun, and a share of the CPUs. Their lines "
    "begin with [RANK]. Signals go to all of them, and where one fails, all end; with --restarts "
    "they are then started again, and `train --run DIR` continues from DIR's last checkpoint.";
constexpr const char* kLaunchFooter =
    "Example: stoker launch -n 2 --restarts 3 -- train recipe.yaml --run runs/two\n"
    "Exit: 0 all did, 1 failed, 2 wrong usage, 130 SIGINT, 143 SIGTERM";

bool HasCommand(const CLI::App& program, const std::string& name) {
  return std::ranges::any_of(program.get_subcommands({}),
                             [&](const CLI::App* command) { return command->get_name() == name; });
}

Status CheckAndRun(const LaunchArguments& arguments, const CLI::App& program,
                   const std::function<Status(const LaunchArguments&)>& run) {
  if (!arguments.words || arguments.words->empty()) {
    return InvalidArgument(
        "no command follows `--`; write stoker launch -n {} -- train RECIPE; "
        "`stoker launch --help` explains",
        arguments.ranks);
  }
  if (arguments.words->front() == "launch")
    return InvalidArgument("launch starts no launch; give -n the number of all processes");
  const std::string& first = arguments.words->front();
  if (!first.starts_with('-') && !HasCommand(program, first)) {
    return InvalidArgument(
        "'{}' is no command of stoker, which is what launch starts, such as `-- train RECIPE`; "
        "torchrun and mpirun start other programs",
        Printable(first));
  }
  return run(arguments);
}

}  // namespace

void AddLaunchCommand(Program& program, std::function<Status(const LaunchArguments&)> run) {
  auto [app, arguments] = program.Add<LaunchArguments>(
      "launch", kLaunchAbout, kLaunchFooter,
      [run = std::move(run), &all = program.app()](const LaunchArguments& given) {
        return CheckAndRun(given, all, run);
      });
  app.add_option("-n", arguments.ranks, fmt::format("processes, 1..{}", kMostRanks))
      ->type_name("N")
      ->required()
      ->check(BetweenCheck(1, kMostRanks));
  app.add_option("--restarts", arguments.restarts, "start all again where one fails, so often")
      ->type_name("R")
      ->check(BetweenCheck(0, 1'000'000))
      ->default_str("0");
  app.add_flag("--share-cpus", arguments.share_cpus, "each process may use all CPUs");
  app.add_option("--log-dir", arguments.log_folder, "write what rank K prints to DIR/rank-K.log")
      ->type_name("DIR");
  program.TakeWordsAfterDashes(app, "COMMAND", "a command of stoker, with its arguments",
                               arguments.words);
}

}  // namespace stoker
