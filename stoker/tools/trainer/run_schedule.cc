#include "stoker/run/run_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "stoker/base/json_text.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/plan/training_plan.h"

namespace stoker {
namespace {

constexpr int64_t kMostPoints = 2000;

// A run's schedule with what it stretches over.
struct Planned {
  std::string name;
  SchedulePlan plan;
  std::unique_ptr<Schedule> schedule;
};

Result<Planned> PlanFromData(const ScheduleArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe, LoadRecipe(arguments.recipe, arguments.set));
  const Result<TrainingPlan> plan = MakePlan(recipe);
  if (!plan.ok() && !recipe.data.train.cardinality().known() && !recipe.train.options.max_steps) {
    return Status(plan.status().code(),
                  fmt::format("{}; or say --steps-per-epoch N here, which reads no data",
                              plan.status().message()));
  }
  STOKER_RETURN_IF_ERROR(plan.status());
  STOKER_ASSIGN_OR_RETURN(auto schedule,
                          BuildRunSchedule(recipe.train, plan->schedule, plan->batch_size));
  return Planned{recipe.train.schedule.name, plan->schedule, std::move(schedule)};
}

Result<Planned> PlanWithoutData(const ScheduleArguments& arguments, int64_t steps_per_epoch) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode root,
                          ReadRecipeAndPlugins(arguments.recipe, arguments.set));
  STOKER_ASSIGN_OR_RETURN(const TrainRecipe train, ParseTrainSection(root));
  SchedulePlan plan{.total_steps = 0, .steps_per_epoch = steps_per_epoch};
  if (__builtin_mul_overflow(steps_per_epoch, train.options.epochs, &plan.total_steps)) {
    return InvalidArgument("{} epochs of {} steps are too many to count", train.options.epochs,
                           steps_per_epoch);
  }
  plan.total_steps = std::min(plan.total_steps, train.options.max_steps.value_or(plan.total_steps));
  STOKER_ASSIGN_OR_RETURN(auto schedule, BuildRunSchedule(train, plan, arguments.batch));
  return Planned{train.schedule.name, plan, std::move(schedule)};
}

// Every step, or kMostPoints of them, the first and the last included.
std::vector<int64_t> StepsToShow(int64_t total) {
  std::vector<int64_t> steps;
  const int64_t points = std::min(total, kMostPoints);
  for (int64_t i = 0; i < points; ++i) {
    const auto share =
        static_cast<double>(i) / static_cast<double>(std::max<int64_t>(points - 1, 1));
    steps.push_back(static_cast<int64_t>(share * static_cast<double>(total - 1) + 0.5));
  }
  return steps;
}

Chart ChartOf(const Planned& planned, const std::string& recipe, bool log) {
  ChartSeries rate, momentum;
  for (const int64_t step : StepsToShow(planned.plan.total_steps)) {
    const ScheduleValue value = planned.schedule->At(step);
    rate.x.push_back(static_cast<double>(step));
    rate.y.push_back(value.lr);
    if (!value.momentum) continue;
    momentum.x.push_back(static_cast<double>(step));
    momentum.y.push_back(*value.momentum);
  }
  Chart chart{.title = fmt::format("{}: {}", recipe, planned.name), .x_label = "step"};
  chart.panels.push_back({.label = "learning rate", .series = {std::move(rate)}, .log = log});
  if (!momentum.x.empty()) chart.panels.push_back({"momentum", {std::move(momentum)}, false});
  return chart;
}

Json ToJson(const Planned& planned, const Chart& chart) {
  const ChartSeries& rate = chart.panels[0].series[0];
  Json json = {{"schedule", planned.name},
               {"total_steps", planned.plan.total_steps},
               {"steps_per_epoch", planned.plan.steps_per_epoch},
               {"step", rate.x},
               {"lr", rate.y}};
  if (chart.panels.size() > 1) json["momentum"] = chart.panels[1].series[0].y;
  return json;
}

std::string Summary(const Planned& planned, const Chart& chart) {
  const std::vector<double>& rates = chart.panels[0].series[0].y;
  const auto top = std::ranges::max_element(rates);
  const double step = chart.panels[0].series[0].x[static_cast<size_t>(top - rates.begin())];
  std::string text = fmt::format(
      "{} steps, {} an epoch; the rate is {:.4g} at first, at most {:.4g} (step {}), {:.4g} at "
      "last\n",
      WithThousands(static_cast<double>(planned.plan.total_steps)),
      WithThousands(static_cast<double>(planned.plan.steps_per_epoch)), rates.front(), *top,
      WithThousands(step), rates.back());
  if (planned.schedule->follows_evaluations()) {
    text += "It follows evaluations: this is what it gives as long as they get better.\n";
  }
  return text;
}

}  // namespace

Status RunSchedule(const ScheduleArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const Planned planned,
                          arguments.steps_per_epoch
                              ? PlanWithoutData(arguments, *arguments.steps_per_epoch)
                              : PlanFromData(arguments));
  const std::string name = std::filesystem::path(arguments.recipe).filename().string();
  const Chart chart = ChartOf(planned, name, arguments.log);
  STOKER_RETURN_IF_ERROR(WriteChart(chart, arguments.chart));
  if (arguments.json) return PrintResult(DumpJson(ToJson(planned, chart)) + "\n");
  return PrintResult(ChartForTerminal(chart) + Summary(planned, chart));
}

}  // namespace stoker
