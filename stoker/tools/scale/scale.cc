#include "stoker/tools/scale/scale.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/io/atomic_file.h"
#include "stoker/run/batch_per_rank.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/temporary_directory.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/scale/scale_report.h"
#include "stoker/tools/scale/scale_run.h"

namespace stoker {
namespace {

// Where the runs go, for as long as this lives.
struct Place {
  std::filesystem::path folder;
  std::optional<TemporaryDirectory> temporary;
};

Result<Place> MakePlace(const ScaleArguments& arguments) {
  Place place;
  if (arguments.keep.empty()) {
    STOKER_ASSIGN_OR_RETURN(TemporaryDirectory temporary, TemporaryDirectory::Create("scale"));
    place.folder = temporary.path();
    place.temporary.emplace(std::move(temporary));
    return place;
  }
  place.folder = arguments.keep;
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(place.folder, error)))
    return InvalidArgument("--keep {}: is there already; name a new directory", arguments.keep);
  STOKER_RETURN_IF_ERROR(CreateDirectories(arguments.keep));
  return place;
}

int64_t CpusOfThisProcess() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::vector<std::string> AssignmentsOf(const ScaleArguments& arguments,
                                       std::optional<int64_t> batch, std::string_view batch_key) {
  std::vector<std::string> set = arguments.set;
  set.push_back(fmt::format("train.epochs={}", arguments.epochs));
  if (arguments.steps) set.push_back(fmt::format("train.max_steps={}", *arguments.steps));
  if (batch) set.push_back(fmt::format("{}={}", batch_key, *batch));
  return set;
}

// Trains all, in turn, into `points`, which after an error holds what was measured before it.
Status TrainAll(const ScaleArguments& arguments, const std::filesystem::path& folder,
                std::vector<ScalePoint>& points) {
  // What is wrong with the recipe, the first training says.
  const Result<ConfigNode> recipe = ReadRecipe(arguments.recipe, arguments.set);
  const std::string batch_key = BatchSizeKey(recipe.ok() ? *recipe : ConfigNode());
  std::vector<std::optional<int64_t>> batches;
  for (const int64_t batch : arguments.batches) batches.emplace_back(batch);
  if (batches.empty()) batches.emplace_back();
  std::vector<int64_t> ranks = arguments.ranks;
  std::ranges::sort(ranks);
  for (const std::optional<int64_t>& batch : batches) {
    const std::string of_batch = batch ? fmt::format("batch-{}-", *batch) : "";
    for (const int64_t number : ranks) {
      STOKER_ASSIGN_OR_RETURN(
          ScalePoint point,
          TrainInRanks({.recipe = arguments.recipe,
                        .set = AssignmentsOf(arguments, batch, batch_key),
                        .ranks = number,
                        .share_cpus = arguments.share_cpus,
                        .folder = folder / fmt::format("{}ranks-{}", of_batch, number)}));
      if (batch) point.batch = *batch;
      PrintProgress(stderr, fmt::format("scale: batch {}, {}: {} {}s a second\n", point.batch,
                                        CountText(number, "rank"),
                                        WithThousands(point.samples_per_s()), point.figures.noun));
      points.push_back(std::move(point));
    }
  }
  return OkStatus();
}

Result<std::optional<ComparedGoal>> GoalOf(const ScaleArguments& arguments) {
  if (arguments.reach.empty()) return std::optional<ComparedGoal>();
  STOKER_ASSIGN_OR_RETURN(const MetricGoal goal, ParseMetricGoal(arguments.reach));
  return std::optional<ComparedGoal>({.metric = goal.metric, .value = goal.value});
}

Status CheckGoal(const std::optional<ComparedGoal>& goal, const std::vector<ScalePoint>& points) {
  if (!goal) return OkStatus();
  std::vector<RunMetrics> metrics;
  for (const ScalePoint& point : points) metrics.push_back(point.record.metrics);
  return CheckMetric(metrics, "--reach", goal->metric);
}

Status Show(const ScaleArguments& arguments, const ScaleReport& report) {
  const Chart chart = report.ToChart();
  STOKER_RETURN_IF_ERROR(WriteChart(chart, arguments.chart));
  const bool kept = !arguments.keep.empty();
  if (arguments.json) return PrintResult(DumpJson(report.ToJson(kept)) + "\n");
  std::string text = report.ToText();
  // One point makes no line.
  if (report.rows.size() > 1) text += "\n" + ChartForTerminal(chart);
  if (kept) text += fmt::format("The runs are in {}.\n", arguments.keep);
  return PrintResult(text);
}

}  // namespace

Status RunScale(const ScaleArguments& arguments) {
  ::signal(SIGPIPE, SIG_IGN);  // PrintResult notices that a reader has left
  NoteInterrupt();
  STOKER_ASSIGN_OR_RETURN(std::optional<ComparedGoal> goal, GoalOf(arguments));
  STOKER_ASSIGN_OR_RETURN(const Place place, MakePlace(arguments));
  std::vector<ScalePoint> points;
  const Status trained = TrainAll(arguments, place.folder, points);
  if (points.empty()) return trained;
  STOKER_RETURN_IF_ERROR(CheckGoal(goal, points));
  const Status shown = Show(arguments, MakeScaleReport(arguments.recipe, std::move(points),
                                                       CpusOfThisProcess(), std::move(goal)));
  return trained.ok() ? shown : trained;
}

}  // namespace stoker
