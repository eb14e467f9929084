#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "stoker/tools/interrupt.h"
#include "stoker/tools/terminal.h"
#include "stoker/tools/text.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/find_run.h"
#include "stoker/tools/trainer/train_progress.h"
#include "stoker/train/recipe.h"
#include "stoker/train/run_directory.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

constexpr const char* kRuns = "runs";

// A stored recipe names everything absolutely, so it needs no folder.
Result<Recipe> ReadStoredRecipe(const TrainArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRunRecipe(arguments.run));
  for (const std::string& assignment : arguments.set) {
    STOKER_RETURN_IF_ERROR(SetByPath(recipe, assignment));
  }
  return ParseRecipe(recipe, arguments.run);
}

Result<Recipe> ReadWantedRecipe(const TrainArguments& arguments) {
  return arguments.recipe.empty() ? ReadStoredRecipe(arguments)
                                  : LoadRecipe(arguments.recipe, arguments.set);
}

std::string RecipeName(const TrainArguments& arguments) {
  return std::filesystem::path(arguments.recipe).stem().string();
}

Result<std::filesystem::path> RunToResume(const TrainArguments& arguments) {
  if (!arguments.run.empty()) return std::filesystem::path(arguments.run);
  STOKER_ASSIGN_OR_RETURN(const std::filesystem::path run,
                          FindNewestRun(kRuns, RecipeName(arguments)));
  // On standard error: with --json standard output holds nothing else.
  fmt::print(stderr, "stoker: resuming {}, the newest run of {}\n", run.string(), arguments.recipe);
  return run;
}

Result<std::unique_ptr<Trainer>> OpenTrainer(const TrainArguments& arguments, Recipe recipe) {
  if (arguments.resume) {
    STOKER_ASSIGN_OR_RETURN(const std::filesystem::path run, RunToResume(arguments));
    return Trainer::Resume(std::move(recipe), run, {.allow_changes = arguments.allow_changes});
  }
  if (!arguments.run.empty()) return Trainer::Create(std::move(recipe), arguments.run);
  return Trainer::Create(std::move(recipe), NewRunPath(kRuns, RecipeName(arguments),
                                                       std::chrono::system_clock::now()));
}

std::string SummaryText(const TrainSummary& summary) {
  std::string text;
  if (summary.last_evaluation) {
    text += fmt::format("test accuracy      {:.4f}\n", summary.last_evaluation->accuracy);
  }
  text += fmt::format("images per second  {} ({} of training)\n",
                      WithThousands(summary.images_per_s), DurationText(summary.train_seconds));
  text += fmt::format("run                {}\n", summary.run);
  return text;
}

Status Report(const TrainSummary& summary, const TrainArguments& arguments) {
  if (arguments.json) {
    fmt::print("{}\n", summary.ToJson().dump());
  } else if (!summary.interrupted) {
    fmt::print("{}", SummaryText(summary));
  }
  if (!summary.interrupted) return OkStatus();
  return Cancelled(
      "stopped after step {} of {}; a checkpoint is stored; continue with: stoker train --resume "
      "--run {}",
      summary.step, summary.total_steps, summary.run);
}

}  // namespace

Status RunTrain(const TrainArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(Recipe recipe, ReadWantedRecipe(arguments));
  if (arguments.print_recipe) {
    fmt::print("{}", ToYaml(recipe.Filled()));
    return OkStatus();
  }
  CatchInterrupts();
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                          OpenTrainer(arguments, std::move(recipe)));
  TrainProgress progress({.quiet = arguments.quiet,
                          .lines = arguments.json ? stderr : stdout,
                          .bar = IsTerminal(STDERR_FILENO)});
  const Result<TrainSummary> summary = trainer->Run(&progress, &Interrupted());
  progress.Finish();
  if (!summary.ok()) return summary.status();
  return Report(*summary, arguments);
}

}  // namespace stoker
