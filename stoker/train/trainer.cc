#include "stoker/train/trainer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "stoker/train/initial_weights.h"
#include "stoker/train/training_loop.h"

namespace stoker {
namespace {

// Keys that change no weight: a run goes on with new ones as it would have with the old.
constexpr std::string_view kHarmless[] = {"data.root",
                                          "data.classes",
                                          "data.eval",
                                          "train.checkpoint",
                                          "train.metrics",
                                          "train.activation_checkpointing",
                                          "train.eval_every",
                                          "train.log_every",
                                          "train.feed_threads",
                                          "train.device_prefetch",
                                          "train.tune",
                                          "train.lint",
                                          "train.sanity",
                                          "train.limit_batches.eval",
                                          "train.eval_every_steps",
                                          "train.tensorboard"};
// Keys on which the tuner's choices depend.
constexpr std::string_view kChosenBy[] = {
    "model",           "train.device",  "train.memory_format",
    "train.precision", "train.threads", "train.cudnn_benchmark"};

// Whether a difference, "train.epochs: 3 -> 5", is of one of these keys or of one below it.
bool IsOf(std::string_view difference, std::span<const std::string_view> keys) {
  const std::string_view changed = difference.substr(0, difference.find(':'));
  return std::ranges::any_of(keys, [&](std::string_view key) {
    return changed == key || changed.starts_with(fmt::format("{}.", key));
  });
}

// What the run was made with, against what it is asked to go on with.
struct RecipeChanges {
  std::vector<std::string> of_weights;  // that make the weights other ones
  std::vector<std::string> harmless;
  bool choose_again = false;

  bool any() const { return !of_weights.empty() || !harmless.empty(); }
  std::vector<std::string> Warnings() const {
    std::vector<std::string> warnings;
    if (!of_weights.empty()) {
      warnings.push_back(fmt::format("the recipe was changed: {}", fmt::join(of_weights, "; ")));
    }
    if (!harmless.empty()) {
      warnings.push_back(
          fmt::format("the recipe was changed in what makes no weights other ones: {}",
                      fmt::join(harmless, "; ")));
    }
    return warnings;
  }
};

RecipeChanges CompareRecipes(const ConfigNode& before, const ConfigNode& now) {
  RecipeChanges changes;
  for (std::string& difference : Differences(before, now)) {
    changes.choose_again |= IsOf(difference, kChosenBy);
    auto& list = IsOf(difference, kHarmless) ? changes.harmless : changes.of_weights;
    list.push_back(std::move(difference));
  }
  return changes;
}

Status Refuse(const std::filesystem::path& run, const std::vector<std::string>& changes) {
  return FailedPrecondition(
      "{}: the recipe differs from the one the run was made with: {}. The weights would no longer "
      "be those of one uninterrupted run: undo the changes, start a new run, or allow them "
      "(--allow-changes)",
      run.string(), fmt::join(changes, "; "));
}

// Before anything is written: whether the weights that it begins with fit.
Status TryInitialWeights(const Recipe& recipe, const ModelInput& input) {
  if (recipe.train.init_from.weights.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const auto model, BuildModel(recipe.model, input, /*seed=*/0, {}));
  return InitializeWeights(*model, recipe.train.init_from).status();
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
          {"run", run},
          {"ended", ended.empty() ? Json() : Json(ended)},
          {"best_step", best_step < 0 ? Json() : Json(best_step)},
          {"skipped", skipped},
          {"rollbacks", rollbacks}};
}

Trainer::Trainer(std::unique_ptr<TrainingLoop> loop) : loop_(std::move(loop)) {}
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::Create(Recipe recipe, const std::filesystem::path& run) {
  STOKER_ASSIGN_OR_RETURN(OpenedDevice device, OpenDevice(recipe.train.options.device));
  STOKER_ASSIGN_OR_RETURN(TrainingPlan plan, MakePlan(recipe, device.device));
  STOKER_RETURN_IF_ERROR(TryInitialWeights(recipe, plan.input));
  STOKER_ASSIGN_OR_RETURN(RunDirectory directory, RunDirectory::Create(run, recipe.Filled()));
  return std::unique_ptr<Trainer>(
      new Trainer(std::make_unique<TrainingLoop>(TrainingSetup{.recipe = std::move(recipe),
                                                               .plan = std::move(plan),
                                                               .device = std::move(device),
                                                               .run = std::move(directory)})));
}

Result<std::unique_ptr<Trainer>> Trainer::Resume(Recipe recipe, const std::filesystem::path& run,
                                                 const ResumeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(RunDirectory directory, RunDirectory::Open(run));
  STOKER_ASSIGN_OR_RETURN(const ConfigNode before, ReadRunRecipe(run));
  const RecipeChanges changes = CompareRecipes(before, recipe.Filled());
  if (!changes.of_weights.empty() && !options.allow_changes) {
    return Refuse(run, changes.of_weights);
  }
  STOKER_ASSIGN_OR_RETURN(OpenedDevice device, OpenDevice(recipe.train.options.device));
  STOKER_ASSIGN_OR_RETURN(TrainingPlan plan, MakePlan(recipe, device.device));
  return std::unique_ptr<Trainer>(new Trainer(
      std::make_unique<TrainingLoop>(TrainingSetup{.recipe = std::move(recipe),
                                                   .plan = std::move(plan),
                                                   .device = std::move(device),
                                                   .run = std::move(directory),
                                                   .resume = true,
                                                   .allow_changes = options.allow_changes,
                                                   .recipe_changed = changes.any(),
                                                   .choose_again = changes.choose_again,
                                                   .warnings = changes.Warnings()})));
}

void Trainer::Add(std::string name, std::shared_ptr<Callback> callback) {
  loop_->Add(std::move(name), std::move(callback));
}

Result<TrainSummary> Trainer::Run(TrainObserver* observer, const std::atomic<bool>* stop) {
  return loop_->Run(observer, stop);
}

}  // namespace stoker
