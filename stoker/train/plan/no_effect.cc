#include "stoker/train/plan/no_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "stoker/base/worker_group.h"
#include "stoker/run/average_times.h"
#include "stoker/run/run_schedule.h"

namespace stoker {
namespace {

void CheckWarmup(const Recipe& recipe, const SchedulePlan& plan,
                 std::vector<std::string>& warnings) {
  const double steps = plan.StepsIn(recipe.train.warmup.epochs);
  if (steps < static_cast<double>(plan.total_steps) || steps == 0) return;
  warnings.push_back(fmt::format(
      "{}: it takes {:.0f} steps and the run ends after {}, so the rate never becomes what the "
      "schedule says; take fewer warmup.epochs, or more epochs",
      recipe.train.NameOf("warmup"), steps, plan.total_steps));
}

void CheckAverage(const Recipe& recipe, const SchedulePlan& plan,
                  std::vector<std::string>& warnings) {
  const AverageOptions& options = recipe.train.average;
  if (options.kind == "none") return;
  const AverageTimes times(options, plan);
  if (times.UpdatesIn(plan.total_steps) > 0) return;
  warnings.push_back(fmt::format(
      "{}: nothing is averaged, since it begins at step {}, takes a step of every {}, and the run "
      "ends after {}; give a smaller `start` or `every`, or more epochs",
      recipe.train.NameOf("average"), times.first, times.every, plan.total_steps));
}

// At most so many steps of a schedule are looked at, spread evenly.
constexpr int64_t kRatesLookedAt = 10000;
// A rate below this share of the highest changes no weight that the highest did not settle.
constexpr double kNothing = 1e-9;

// One that follows evaluations is not known before them.
void CheckSchedule(const Recipe& recipe, const TrainingPlan& plan,
                   std::vector<std::string>& warnings) {
  const int64_t total = plan.total_steps();
  const Result<std::unique_ptr<Schedule>> schedule =
      BuildRunSchedule(recipe.train, plan.schedule, plan.batch_size);
  if (!schedule.ok() || (*schedule)->follows_evaluations() || total < 3) return;
  std::vector<double> rates;
  const int64_t stride = (total + kRatesLookedAt - 1) / kRatesLookedAt;
  for (int64_t step = 0; step < total; step += stride) rates.push_back((*schedule)->At(step).lr);
  const auto [least, most] = std::ranges::minmax(rates);
  const auto idle =
      std::ranges::count_if(rates, [&](double rate) { return rate < kNothing * most; });
  if (2 * idle > std::ssize(rates)) {
    warnings.push_back(fmt::format(
        "{}: in {:.0f} % of the {} steps the rate is below a billionth of its highest, {:g}, so "
        "the weights stand still; `stoker schedule` draws it",
        recipe.train.NameOf("schedule"),
        100.0 * static_cast<double>(idle) / static_cast<double>(std::ssize(rates)), total, most));
  } else if (most - least <= kNothing * most && recipe.train.schedule.name != "constant") {
    warnings.push_back(fmt::format(
        "{}: the rate is {:g} in all {} steps, since the run ends before {} changes it; take more "
        "epochs, let it change earlier, or write `constant`",
        recipe.train.NameOf("schedule"), most, total, recipe.train.schedule.name));
  }
}

// How many evaluations of a run count for early stopping; the last is at its end. 0 where the
// epochs that do not count outlast it.
int64_t EvaluationsThatCount(const TrainRecipe& train, const TrainingPlan& plan) {
  const TrainOptions& options = train.options;
  const int64_t every =
      options.eval_every_steps.value_or(options.eval_every * plan.steps_per_epoch());
  const int64_t left_out = train.early_stopping.after_epochs * plan.steps_per_epoch();
  if (left_out >= plan.total_steps()) return 0;
  return (plan.total_steps() + every - 1) / every - left_out / every;
}

void CheckEarlyStopping(const Recipe& recipe, const TrainingPlan& plan,
                        std::vector<std::string>& warnings) {
  const EarlyStoppingOptions& early = recipe.train.early_stopping;
  const std::string name = recipe.train.NameOf("early_stopping");
  if (!early.stops() && (early.baseline || early.after_epochs > 0)) {
    warnings.push_back(
        fmt::format("{}: it ends no run without `patience` or `goal`; give one", name));
  }
  if (!early.stops() || !recipe.data.eval) return;
  const int64_t evaluations = EvaluationsThatCount(recipe.train, plan);
  if (evaluations == 0) {
    warnings.push_back(
        fmt::format("{}: evaluations of the first {} epochs do not count, and the run ends before; "
                    "take a smaller `after_epochs`, or more epochs",
                    name, early.after_epochs));
  } else if (early.patience && *early.patience >= evaluations - 1) {
    warnings.push_back(
        fmt::format("{}: it ends a run after {} evaluations without improvement, and this run has "
                    "{} that count, the last at its end; take a smaller `patience`, or more epochs",
                    name, *early.patience, evaluations));
  }
}

void CheckBatchesOfStep(const Recipe& recipe, const TrainingPlan& plan,
                        std::vector<std::string>& warnings) {
  const TrainOptions& options = recipe.train.options;
  const int64_t wanted = options.BatchesAStep();
  if (wanted <= plan.batches_per_epoch) return;
  warnings.push_back(
      fmt::format("{}: a step of {} batches is not reached, since an epoch has {} and a step ends "
                  "with it; take at most so many, or a larger batch",
                  recipe.train.NameOf(options.hogwild > 1 ? "hogwild" : "accumulate"), wanted,
                  plan.batches_per_epoch));
}

void CheckHogwildThreads(const TrainRecipe& train, std::vector<std::string>& warnings) {
  const int cpus = AvailableCpus();
  if (train.options.hogwild <= std::max(cpus, 1) || train.options.hogwild == 1) return;
  warnings.push_back(
      fmt::format("{}: {} threads compute on {}; more than one a CPU only wait for each other",
                  train.NameOf("hogwild"), train.options.hogwild,
                  cpus == 1 ? "one CPU" : fmt::format("{} CPUs", cpus)));
}

void CheckMetrics(const Recipe& recipe, std::vector<std::string>& warnings) {
  const ConfigNode* const written = recipe.model.node.entries.front().value.Find("classes");
  int64_t classes = 0;
  if (written == nullptr || !ReadOption(*written, classes).ok()) return;
  for (const MetricRegistry::Configured& metric : recipe.train.metrics) {
    const std::string& name = metric.name;
    const std::optional<int64_t> k = TopOfMetric(name);
    if (!k || *k < classes) continue;
    warnings.push_back(fmt::format("{}: {} of {} classes is always 1; take a smaller number",
                                   recipe.train.NameOf("metrics"), name, classes));
  }
}

// Options of something that another option switches on.
void CheckSwitches(const TrainRecipe& train, std::vector<std::string>& warnings) {
  const AverageOptions& average = train.average;
  const AverageOptions usual;
  const bool averages = average.decay != usual.decay || average.gamma != usual.gamma ||
                        average.power != usual.power || average.start || average.every;
  const WarmupOptions& warmup = train.warmup;
  const CheckpointOptions& checkpoint = train.checkpoint;
  const TensorboardOptions& tensorboard = train.tensorboard;
  const InitFromOptions& init = train.init_from;
  const bool chooses =
      init.partial || !init.prefix.empty() || !init.rename.empty() || !init.skip.empty();
  const struct {
    std::string_view key;
    bool idle;
    const char* says;
  } switches[] = {
      {"average", average.kind == "none" && averages,
       "nothing is averaged without a `kind`, ema or swa"},
      {"warmup", warmup.epochs == 0 && (warmup.from || warmup.shape != WarmupOptions{}.shape),
       "there is no warm-up without `epochs`"},
      {"lr_scaling",
       train.lr_scaling.rule == "none" &&
           train.lr_scaling.base_batch != LrScalingOptions{}.base_batch,
       "the rate is not scaled without a `rule`, linear or sqrt"},
      {"tensorboard", !tensorboard.enabled && (tensorboard.histograms || !tensorboard.pictures),
       "nothing is written without `enabled: true`"},
      {"init_from", init.weights.empty() && chooses, "no weights are read without `weights`"},
      {"weighted_metrics", train.options.weighted_metrics && train.options.WeightField().empty(),
       "metrics are not weighted without `sample_weight`"},
      {"checkpoint", checkpoint.best.empty() && checkpoint.best_mode != "auto",
       "no checkpoint is kept as the best without `best`"},
  };
  for (const auto& [key, idle, says] : switches) {
    if (idle) warnings.push_back(fmt::format("{}: {}", train.NameOf(key), says));
  }
}

}  // namespace

std::vector<std::string> SettingsWithoutEffect(const Recipe& recipe, const TrainingPlan& plan) {
  std::vector<std::string> warnings;
  CheckWarmup(recipe, plan.schedule, warnings);
  CheckAverage(recipe, plan.schedule, warnings);
  CheckSchedule(recipe, plan, warnings);
  CheckEarlyStopping(recipe, plan, warnings);
  CheckBatchesOfStep(recipe, plan, warnings);
  CheckHogwildThreads(recipe.train, warnings);
  CheckMetrics(recipe, warnings);
  CheckSwitches(recipe.train, warnings);
  return warnings;
}

std::string MissingEvaluation(const Recipe& recipe) {
  if (recipe.data.eval) return "";
  return fmt::format(
      "the recipe has no data.eval, so nothing is evaluated{}, and `stoker predict` will not know "
      "how to prepare samples",
      recipe.train.metrics.empty() ? "" : ", not even train.metrics");
}

}  // namespace stoker
