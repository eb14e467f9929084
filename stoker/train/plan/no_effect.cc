#include "stoker/train/plan/no_effect.h"

#include <fmt/format.h>

#include <optional>

#include "stoker/run/average_times.h"

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

}  // namespace

std::vector<std::string> SettingsWithoutEffect(const Recipe& recipe, const TrainingPlan& plan) {
  std::vector<std::string> warnings;
  CheckWarmup(recipe, plan.schedule, warnings);
  CheckAverage(recipe, plan.schedule, warnings);
  CheckMetrics(recipe, warnings);
  return warnings;
}

}  // namespace stoker
