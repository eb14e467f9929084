#include "stoker/run/recipe_changes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "stoker/base/json_file.h"
#include "stoker/base/log.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/options/registry.h"
#include "stoker/run/build_kind.h"

namespace stoker {
namespace {

constexpr std::string_view kHarmless[] = {"data.root",
                                          "data.classes",
                                          "train.log_every",
                                          "train.tensorboard",
                                          "train.feed_threads",
                                          "train.device_prefetch",
                                          "train.memory",
                                          "train.tune",
                                          "train.activation_checkpointing",
                                          "train.lint",
                                          "train.sanity",
                                          "train.detect_anomaly",
                                          "train.checkpoint.keep",
                                          "train.checkpoint.every_minutes",
                                          "train.checkpoint.async",
                                          "train.checkpoint.parts",
                                          "train.distributed.backend",
                                          "train.distributed.timeout",
                                          "train.distributed.shard_optimizer"};
// What is evaluated, and when.
constexpr std::string_view kOfEvaluations[] = {"data.eval", "train.eval_every",
                                               "train.eval_every_steps", "train.limit_batches.eval",
                                               "train.weighted_metrics"};
// Which checkpoints the plan has.
constexpr std::string_view kOfCheckpoints[] = {
    "train.checkpoint.every_steps", "train.checkpoint.best", "train.checkpoint.best_mode"};
// What evaluations measure beside loss and accuracy.
constexpr std::string_view kMetrics[] = {"train.metrics"};
// Keys on which the tuner's choices depend.
constexpr std::string_view kChosenBy[] = {
    "plugins",         "model",         "train.device",          "train.memory_format",
    "train.precision", "train.threads", "train.cudnn_benchmark", "train.graph",
    "train.denormals"};

// Whether a difference, "train.epochs: 3 -> 5", is of one of these keys or of one below it.
bool IsOf(std::string_view difference, std::span<const std::string_view> keys) {
  const std::string_view changed = difference.substr(0, difference.find(':'));
  return std::ranges::any_of(keys, [&](std::string_view key) {
    return changed == key || changed.starts_with(fmt::format("{}.", key));
  });
}

// Whether it is of this option of one of several targets: "train.target.price.metrics: ...".
bool IsOfTargets(std::string_view difference, const TrainRecipe& train, std::string_view option) {
  return std::ranges::any_of(train.targets, [&](const TargetRecipe& target) {
    const std::string key = fmt::format("train.target.{}.{}", target.field, option);
    const std::string_view keys[] = {key};
    return IsOf(difference, keys);
  });
}

// Whether a difference is the place of a plug-in, "plugins.0.file: ...", which its hash
// identifies.
bool IsPlaceOfPlugin(std::string_view difference) {
  const std::string_view changed = difference.substr(0, difference.find(':'));
  return changed.starts_with("plugins.") && changed.ends_with(".file");
}

bool ScheduleFollowsEvaluations(const TrainRecipe& train) {
  const auto schedule =
      BuildKind(train.schedule, SchedulePlan{.total_steps = 1000, .steps_per_epoch = 100});
  return schedule.ok() && (*schedule)->follows_evaluations();
}

// Whether it is none that each evaluation has.
bool IsOfMetric(std::string_view figure) {
  const std::string_view of_target = figure.substr(figure.rfind('.') + 1);
  return !figure.empty() && of_target != "loss" && of_target != "accuracy";
}

// What the weights of a run depend on, apart from the steps themselves.
struct Followed {
  bool evaluations = false;
  bool checkpoints = false;
  bool metrics = false;  // a schedule follows the loss or the accuracy

  explicit Followed(const TrainRecipe& train)
      : evaluations(train.early_stopping.stops() || ScheduleFollowsEvaluations(train)),
        checkpoints(train.options.on_nonfinite == "rollback"),
        metrics((train.early_stopping.stops() && IsOfMetric(train.early_stopping.metric)) ||
                (checkpoints && IsOfMetric(train.checkpoint.best))) {
    evaluations |= checkpoints && !train.checkpoint.best.empty();
  }
};

// As a run directory keeps it: addresses without what may be secret, which may be another each time
// (a signature that ends).
ConfigNode AsStored(const ConfigNode& recipe) {
  const std::string text = ToYaml(recipe);
  const std::string stored = WithoutSecrets(text);
  if (stored == text) return recipe;
  Result<ConfigNode> parsed = ParseYaml(stored, "the recipe");
  return parsed.ok() ? *std::move(parsed) : recipe;
}

// The same of options inside options, such as those of each feature of a row. Values that are to be
// learned do not parse as what they become, so stages without such options stay as they are.
void AddLaterOptionsOfFields(ConfigNode& item) {
  const bool nested =
      item.entries.size() == 1 &&
      std::ranges::any_of(item.entries.front().value.entries, [](const ConfigNode::Entry& option) {
        return option.value.kind == ConfigNode::Kind::kMap;
      });
  if (!nested) return;
  const auto filled = OperatorRegistry::Known().Parse(item);
  if (filled.ok()) item = filled->node;
}

// Adds the options that the operators of a pipeline have got since it was stored, at their
// defaults.
void AddLaterOptions(ConfigNode* list) {
  if (list == nullptr) return;
  const std::vector<KindDescription> kinds = OperatorRegistry::Known().Describe();
  for (ConfigNode& item : list->items) {
    for (ConfigNode::Entry& stage : item.entries) {
      const auto kind = std::ranges::find(kinds, stage.key, &KindDescription::name);
      if (kind == kinds.end() || stage.value.kind != ConfigNode::Kind::kMap) continue;
      for (const ConfigNode::Entry& option : kind->defaults.entries) {
        if (stage.value.Find(option.key) == nullptr) stage.value.entries.push_back(option);
      }
    }
    AddLaterOptionsOfFields(item);
  }
}

// `before` with the keys of `train:`, and the options of operators and of the model, that Stoker
// has got since the run began, at their defaults: what the run was trained with does not change
// because a later version names it.
ConfigNode WithLaterKeys(ConfigNode before) {
  if (ConfigNode* const data = before.Find("data")) {
    for (const char* const pipeline : {"source", "train", "eval"})
      AddLaterOptions(data->Find(pipeline));
  }
  const Result<TrainRecipe> train = ParseTrainSection(before);
  const auto section =
      std::ranges::find(before.entries, std::string_view("train"), &ConfigNode::Entry::key);
  if (train.ok() && section != before.entries.end()) section->value = train->Filled();
  const Result<ModelRegistry::Configured> model = ParseModelSection(before);
  const auto of_model =
      std::ranges::find(before.entries, std::string_view("model"), &ConfigNode::Entry::key);
  if (model.ok() && of_model != before.entries.end()) of_model->value = model->node;
  return before;
}

}  // namespace

std::vector<std::string> RecipeChanges::Warnings() const {
  std::vector<std::string> warnings;
  if (!of_weights.empty()) {
    warnings.push_back(fmt::format("the recipe was changed: {}", fmt::join(of_weights, "; ")));
  }
  if (!harmless.empty()) {
    warnings.push_back(fmt::format("the recipe was changed in what makes no weights other ones: {}",
                                   fmt::join(harmless, "; ")));
  }
  return warnings;
}

RecipeChanges CompareRecipes(const ConfigNode& before, const Recipe& now) {
  const Followed followed(now.train);
  RecipeChanges changes;
  for (std::string& difference :
       Differences(AsStored(WithLaterKeys(before)), AsStored(now.Filled()))) {
    const bool moved = IsPlaceOfPlugin(difference);
    changes.choose_again |= !moved && IsOf(difference, kChosenBy);
    const bool of_metrics =
        IsOf(difference, kMetrics) || IsOfTargets(difference, now.train, "metrics");
    const bool harmless = moved || IsOf(difference, kHarmless) ||
                          IsOfTargets(difference, now.train, "classes") ||
                          (of_metrics && !followed.metrics) ||
                          (IsOf(difference, kOfEvaluations) && !followed.evaluations) ||
                          (IsOf(difference, kOfCheckpoints) && !followed.checkpoints);
    (harmless ? changes.harmless : changes.of_weights).push_back(std::move(difference));
  }
  return changes;
}

Result<Json> MarkData(const DataRecipe& data, DataCheck check, const CheckObserver& observer) {
  if (check == DataCheck::kFull) LogInfo("reading all data files for their checksums");
  Json marks;
  STOKER_ASSIGN_OR_RETURN(marks["train"], MarkFiles(data.train, data.root, check, observer));
  if (data.eval) {
    STOKER_ASSIGN_OR_RETURN(marks["eval"], MarkFiles(*data.eval, data.root, check, observer));
  }
  return AsStoredJson(marks);
}

bool HaveFullChecks(const Json& marks) {
  return marks.is_object() && !marks.empty() && std::ranges::all_of(marks, HaveFullCheck);
}

void KeepFullChecks(const Json& before, Json& now) {
  if (!before.is_object()) return;
  for (const auto& [pipeline, marks] : now.items()) {
    KeepFullCheck(before.value(pipeline, Json()), marks);
  }
}

DataChanges CompareData(const Json& before, const Json& now, const Recipe& recipe) {
  const bool follows_evaluations = Followed(recipe.train).evaluations;
  DataChanges changes;
  for (const auto& [pipeline, marks] : now.items()) {
    const FileChanges files =
        CompareFiles(before.is_object() ? before.value(pipeline, Json()) : Json(), marks);
    const bool matters = pipeline == "train" || follows_evaluations;
    for (const std::string& change : files.changed) {
      const std::string text = fmt::format("data.{}: {}", pipeline, change);
      if (matters) {
        changes.of_weights.push_back(text);
      } else {
        changes.warnings.push_back("a file changed on which no weight depends: " + text);
      }
    }
    if (files.touched.empty()) continue;
    changes.unsure.push_back(fmt::format(
        "data.{}: written since the run began, though no change was found in the places looked at: "
        "{}",
        pipeline, fmt::join(files.touched, ", ")));
  }
  return changes;
}

}  // namespace stoker
