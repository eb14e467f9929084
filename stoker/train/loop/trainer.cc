#include "stoker/train/loop/trainer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "stoker/base/json_or_null.h"
#include "stoker/cluster/group.h"
#include "stoker/data/recipe/recipe_place.h"
#include "stoker/device/torch_error.h"
#include "stoker/run/recipe_changes.h"
#include "stoker/run/recipe_place.h"
#include "stoker/run/run_learned.h"
#include "stoker/train/loop/training_loop.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/initial_vectors.h"
#include "stoker/train/plan/model_trial.h"

namespace stoker {
namespace {

//   what  has changed: "the recipe differs from the one"
Status Refuse(const std::filesystem::path& run, std::string_view what,
              const std::vector<std::string>& changes) {
  return FailedPrecondition(
      "{}: {} the run was made with: {}. The weights would no longer be those of one uninterrupted "
      "run: undo the changes, start a new run, or allow them (--allow-changes)",
      run.string(), what, fmt::join(changes, "; "));
}

struct DataFound {
  Json marks;
  DataChanges changes;  // since the run was made
};

// A run that recorded checksums of its whole data keeps them, and compares them where the cheap
// marks leave a doubt.
Result<DataFound> FindData(const std::filesystem::path& run, const Recipe& recipe, DataCheck check,
                           const CheckObserver& observer) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Json> before, ReadRunData(run));
  const bool recorded = before && HaveFullChecks(*before);
  if (check == DataCheck::kFull && !recorded) {
    return FailedPrecondition(
        "{}: the run holds no checksums of its whole data, since it did not begin with "
        "--check-data full; resume it without that, which compares names, sizes and places in the "
        "content",
        run.string());
  }
  STOKER_ASSIGN_OR_RETURN(Json marks, MarkData(recipe.data, check, observer));
  DataFound data{.marks = std::move(marks), .changes = {}};
  if (!before) {
    std::error_code none;
    if (!std::filesystem::is_empty(RunPaths{run}.checkpoints(), none) && !none) {
      data.changes.warnings.push_back(fmt::format(
          "{} is missing, so it is not checked whether the data files are those that the run was "
          "made with",
          RunPaths{run}.data()));
    }
    return data;
  }
  data.changes = CompareData(*before, data.marks, recipe);
  if (!recorded || check == DataCheck::kFull) return data;
  if (!data.changes.any()) {
    KeepFullChecks(*before, data.marks);
    if (HaveFullChecks(data.marks)) return data;  // it has the same sources
  }
  return FindData(run, recipe, DataCheck::kFull, observer);
}

// Changes of which the weights are others are refused, unless they are allowed.
Result<DataFound> CheckData(const std::filesystem::path& run, const Recipe& recipe,
                            const ResumeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(DataFound data,
                          FindData(run, recipe, options.data_check, options.on_data_check));
  if (data.changes.of_weights.empty()) return data;
  if (!options.allow_changes) {
    return Refuse(run, "the data files differ from those", data.changes.of_weights);
  }
  data.changes.warnings.push_back(
      fmt::format("the data files were changed: {}", fmt::join(data.changes.of_weights, "; ")));
  return data;
}

// What the stages have learned is that of the run, unless another is allowed: then it is kept.
Status CheckLearned(RunDirectory& directory, const DataRecipe& recipe, const ResumeOptions& options,
                    DataFound& data) {
  const std::filesystem::path& run = directory.paths().root;
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> changes,
                          LearnedChanges(run, recipe, data.marks));
  if (!changes.empty() && !options.allow_changes)
    return Refuse(run, "what its stages learned from the data differs from what", changes);
  if (!changes.empty()) {
    data.changes.warnings.push_back(
        fmt::format("what stages learned was changed: {}", fmt::join(changes, "; ")));
  }
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Learned> kept, ReadRunLearned(run));
  if (!recipe.learned || (kept && DifferencesOfLearned(*kept, *recipe.learned).empty()))
    return OkStatus();
  return KeepLearned(directory, recipe, data.marks);
}

// Before anything is written: whether the weights that it begins with fit.
Status TryInitialWeights(const Recipe& recipe, const ModelInput& input) {
  if (!recipe.train.init_from.any()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const auto model, BuildModel(recipe.model, input, /*seed=*/0, {}));
  return InitializeModel(*model, recipe.train, recipe.data.train).status();
}

struct Opened {
  OpenedDevice device;
  TrainingPlan plan;
};

// What several ranks cannot do yet.
Status CheckFitsRanks(const Recipe& recipe, const OpenedDevice& device) {
  if (!device.is_cpu()) {
    return InvalidArgument(
        "train.device: several processes train on CPUs only so far, and this is {}; set it to cpu, "
        "or train in one process",
        device.device.str());
  }
  for (const CallbackRegistry::Configured& callback : recipe.train.callbacks) {
    if (callback.name != "noise_scale") continue;
    return InvalidArgument(
        "train.callbacks: noise_scale measures the batches of one process; leave it out, or train "
        "in one process");
  }
  return OkStatus();
}

Result<Opened> OpenAll(const Recipe& recipe, const Group* group) {
  Result<OpenedDevice> device = OpenDeviceFor(recipe.train.options);
  if (!device.ok()) return WithPlace(PlacesOf(recipe), device.status());
  RowShare share;
  if (group != nullptr) {
    STOKER_RETURN_IF_ERROR(CheckFitsRanks(recipe, *device));
    share = {.rank = group->membership().rank, .world = group->membership().world};
  }
  Result<TrainingPlan> plan = MakePlan(recipe, device->device, share);
  if (!plan.ok()) return WithPlace(PlacesOf(recipe), plan.status());
  return Opened{*std::move(device), *std::move(plan)};
}

// What throws here has no memory for the model.
Result<Opened> Open(const Recipe& recipe, const Group* group = nullptr) {
  std::optional<Result<Opened>> opened;
  const Status thrown = CatchTorchErrors([&] { opened = OpenAll(recipe, group); });
  if (!thrown.ok()) return thrown.While("making the model");
  return *std::move(opened);
}

}  // namespace

Json TrainSummary::ToJson() const {
  Json json = {{"interrupted", interrupted},
               {"step", step},
               {"total_steps", total_steps},
               {"last_evaluation", last_evaluation ? last_evaluation->ToJson() : Json()},
               {"best_accuracy", OrNull(best_accuracy)},
               {"best_loss", OrNull(best_loss)},
               {"samples_are", noun},
               {"images_per_s", images_per_s},
               {"train_seconds", train_seconds},
               {"run", run},
               {"ended", ended.empty() ? Json() : Json(ended)},
               {"best_step", best_step < 0 ? Json() : Json(best_step)},
               {"skipped", skipped},
               {"rollbacks", rollbacks},
               {"waited", waited},
               {"starved", starved ? starved->ToJson() : Json()}};
  if (ranks) {
    json["ranks"] = {{"waited", ranks->waited},
                     {"exchanged", ranks->exchanged},
                     {"slowest", ranks->slowest},
                     {"fastest", ranks->fastest}};
  }
  return json;
}

Trainer::Trainer(std::unique_ptr<TrainingLoop> loop) : loop_(std::move(loop)) {}
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::Create(Recipe recipe, const std::filesystem::path& run,
                                                 DataCheck check, const CheckObserver& observer) {
  return CreateIn(
      std::move(recipe), [&] { return RunPlace{run}; }, check, observer);
}

Result<std::unique_ptr<Trainer>> Trainer::CreateIn(Recipe recipe, const RunClaim& claim,
                                                   DataCheck check, const CheckObserver& observer,
                                                   std::shared_ptr<Group> group) {
  STOKER_RETURN_IF_ERROR(WishFor(recipe.train.memory));
  STOKER_ASSIGN_OR_RETURN(Opened opened, Open(recipe, group.get()));
  STOKER_RETURN_IF_ERROR(WithPlace(PlacesOf(recipe), TryInitialWeights(recipe, opened.plan.input)));
  std::optional<FirstBatch> first;
  if (recipe.train.options.sanity) {
    Result<FirstBatch> tried = TryFirstSamples(recipe);
    if (!tried.ok()) return WithPlace(PlacesOf(recipe), tried.status());
    first = *std::move(tried);
  }
  STOKER_ASSIGN_OR_RETURN(Json marks, MarkData(recipe.data, check, observer));
  STOKER_ASSIGN_OR_RETURN(RunPlace place, claim());
  STOKER_ASSIGN_OR_RETURN(RunDirectory directory,
                          RunDirectory::Create(std::move(place), recipe.Filled()));
  if (const Status kept = KeepLearned(directory, recipe.data, marks); !kept.ok()) {
    directory.held()->Discard();
    return kept;
  }
  return std::unique_ptr<Trainer>(
      new Trainer(std::make_unique<TrainingLoop>(TrainingSetup{.recipe = std::move(recipe),
                                                               .plan = std::move(opened.plan),
                                                               .device = std::move(opened.device),
                                                               .run = std::move(directory),
                                                               .data_marks = std::move(marks),
                                                               .first_batch = std::move(first),
                                                               .group = std::move(group)})));
}

// Of a resumed run, what rank 0 has allowed is allowed here.
Result<std::unique_ptr<Trainer>> Trainer::Follow(Recipe recipe, std::shared_ptr<Group> group,
                                                 bool resume) {
  STOKER_RETURN_IF_ERROR(WishFor(recipe.train.memory));
  STOKER_ASSIGN_OR_RETURN(Opened opened, Open(recipe, group.get()));
  return std::unique_ptr<Trainer>(
      new Trainer(std::make_unique<TrainingLoop>(TrainingSetup{.recipe = std::move(recipe),
                                                               .plan = std::move(opened.plan),
                                                               .device = std::move(opened.device),
                                                               .run = RunDirectory::Nowhere(),
                                                               .resume = resume,
                                                               .allow_changes = resume,
                                                               .group = std::move(group)})));
}

Result<std::unique_ptr<Trainer>> Trainer::Resume(Recipe recipe, const std::filesystem::path& run,
                                                 const ResumeOptions& options) {
  STOKER_RETURN_IF_ERROR(WishFor(recipe.train.memory));
  STOKER_ASSIGN_OR_RETURN(RunDirectory directory, RunDirectory::Open(run));
  STOKER_ASSIGN_OR_RETURN(const ConfigNode before, ReadRunRecipe(run));
  const RecipeChanges changes = CompareRecipes(before, recipe);
  if (!changes.of_weights.empty() && !options.allow_changes) {
    return Refuse(run, "the recipe differs from the one", changes.of_weights);
  }
  STOKER_ASSIGN_OR_RETURN(DataFound data, CheckData(run, recipe, options));
  STOKER_RETURN_IF_ERROR(CheckLearned(directory, recipe.data, options, data));
  std::vector<std::string> warnings = changes.Warnings();
  std::ranges::move(data.changes.warnings, std::back_inserter(warnings));
  std::ranges::move(data.changes.unsure, std::back_inserter(warnings));
  STOKER_ASSIGN_OR_RETURN(Opened opened, Open(recipe, options.group.get()));
  return std::unique_ptr<Trainer>(new Trainer(
      std::make_unique<TrainingLoop>(TrainingSetup{.recipe = std::move(recipe),
                                                   .plan = std::move(opened.plan),
                                                   .device = std::move(opened.device),
                                                   .run = std::move(directory),
                                                   .resume = true,
                                                   .allow_changes = options.allow_changes,
                                                   .recipe_changed = changes.any(),
                                                   .choose_again = changes.choose_again,
                                                   .data_marks = std::move(data.marks),
                                                   .warnings = std::move(warnings),
                                                   .group = options.group})));
}

void Trainer::Add(std::string name, std::shared_ptr<Callback> callback) {
  loop_->Add(std::move(name), std::move(callback));
}

void Trainer::Discard() const { loop_->Discard(); }

Result<TrainSummary> Trainer::Run(TrainObserver* observer, const std::atomic<bool>* stop) {
  std::optional<Result<TrainSummary>> summary;
  const Status thrown = CatchTorchErrors([&] { summary = loop_->Run(observer, stop); });
  if (!thrown.ok()) return thrown.While("training");
  return *std::move(summary);
}

}  // namespace stoker
