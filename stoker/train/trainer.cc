#include "stoker/train/trainer.h"

#include <fmt/ranges.h>

#include "stoker/train/training_loop.h"

namespace stoker {
namespace {

// What the run was made with, against what it is asked to go on with. With changes allowed: a
// warning.
Result<std::vector<std::string>> CompareRecipes(const std::filesystem::path& run,
                                                const Recipe& recipe,
                                                const ResumeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode before, ReadRunRecipe(run));
  const std::vector<std::string> changes = Differences(before, recipe.Filled());
  if (changes.empty()) return std::vector<std::string>{};
  const std::string list = fmt::format("{}", fmt::join(changes, "; "));
  if (options.allow_changes) return std::vector<std::string>{"the recipe was changed: " + list};
  return FailedPrecondition(
      "{}: the recipe differs from the one the run was made with: {}. The weights would no longer "
      "be those of one uninterrupted run: undo the changes, start a new run, or allow them "
      "(--allow-changes)",
      run.string(), list);
}

}  // namespace

Json TrainSummary::ToJson() const {
  return {{"interrupted", interrupted},
          {"step", step},
          {"total_steps", total_steps},
          {"last_evaluation", last_evaluation ? last_evaluation->ToJson() : Json()},
          {"best_accuracy", best_accuracy},
          {"images_per_s", images_per_s},
          {"train_seconds", train_seconds},
          {"run", run}};
}

Trainer::Trainer(std::unique_ptr<TrainingLoop> loop) : loop_(std::move(loop)) {}
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::Create(Recipe recipe, const std::filesystem::path& run) {
  STOKER_ASSIGN_OR_RETURN(OpenedDevice device, OpenDevice(recipe.train.options.device));
  STOKER_ASSIGN_OR_RETURN(TrainingPlan plan, MakePlan(recipe));
  STOKER_ASSIGN_OR_RETURN(RunDirectory directory, RunDirectory::Create(run, recipe.Filled()));
  return std::unique_ptr<Trainer>(new Trainer(
      std::make_unique<TrainingLoop>(TrainingLoop::Setup{.recipe = std::move(recipe),
                                                         .plan = std::move(plan),
                                                         .device = std::move(device),
                                                         .run = std::move(directory)})));
}

Result<std::unique_ptr<Trainer>> Trainer::Resume(Recipe recipe, const std::filesystem::path& run,
                                                 const ResumeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> warnings, CompareRecipes(run, recipe, options));
  STOKER_ASSIGN_OR_RETURN(OpenedDevice device, OpenDevice(recipe.train.options.device));
  STOKER_ASSIGN_OR_RETURN(TrainingPlan plan, MakePlan(recipe));
  STOKER_ASSIGN_OR_RETURN(RunDirectory directory, RunDirectory::Open(run));
  if (!warnings.empty()) STOKER_RETURN_IF_ERROR(directory.WriteRecipe(recipe.Filled()));
  return std::unique_ptr<Trainer>(new Trainer(
      std::make_unique<TrainingLoop>(TrainingLoop::Setup{.recipe = std::move(recipe),
                                                         .plan = std::move(plan),
                                                         .device = std::move(device),
                                                         .run = std::move(directory),
                                                         .resume = true,
                                                         .allow_changes = !warnings.empty(),
                                                         .warnings = std::move(warnings)})));
}

Result<TrainSummary> Trainer::Run(TrainObserver* observer, const std::atomic<bool>* stop) {
  return loop_->Run(observer, stop);
}

Profile Trainer::GetProfile() const { return loop_->GetProfile(); }

}  // namespace stoker
