#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "stoker/base/json_text.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/tune/lr_finder.h"

namespace stoker {
namespace {

struct Suggestion {
  const char* name;
  const char* meaning;
  double rate;
};

std::vector<Suggestion> ListOf(const LrSuggestions& found) {
  return {{"valley", "well into the longest fall of the loss", found.valley},
          {"steepest", "where the loss falls fastest", found.steepest},
          {"minimum/10", "a tenth of the rate with the lowest loss", found.minimum_tenth}};
}

// The loss of the curve at the rate next to `rate`.
double LossAt(const LrCurve& curve, double rate) {
  size_t nearest = 0;
  for (size_t i = 0; i < curve.lr.size(); ++i) {
    if (curve.lr[i] <= rate) nearest = i;
  }
  return curve.loss[nearest];
}

Chart ChartOf(const LrSearch& search, const LrFindArguments& arguments) {
  const LrCurve& curve = search.curve;
  const std::string name = std::filesystem::path(arguments.recipe).filename().string();
  ChartPanel panel{.label = "loss", .series = {}, .log = false};
  ChartSeries raw{.name = "", .x = curve.lr, .y = curve.raw, .color = 0};
  raw.faint = true;
  // What comes after divergence would flatten all the rest.
  for (double& loss : raw.y) {
    if (loss > 2 * curve.loss.front()) loss = NAN;
  }
  panel.series.push_back(std::move(raw));
  panel.series.push_back({.name = "", .x = curve.lr, .y = curve.loss, .color = 0});
  Chart chart{.title = fmt::format("{}: loss by learning rate", name),
              .x_label = "learning rate",
              .panels = {},
              .log_x = !arguments.linear,
              .legend = {{"loss, smoothed", 0}}};
  size_t color = 1;
  if (search.suggestions) {
    for (const Suggestion& suggestion : ListOf(*search.suggestions)) {
      ChartSeries point{.name = "",
                        .x = {suggestion.rate},
                        .y = {LossAt(curve, suggestion.rate)},
                        .color = color};
      point.marks = true;
      panel.series.push_back(std::move(point));
      chart.legend.push_back(
          {fmt::format("{}: {:.3g}", suggestion.name, suggestion.rate), color++});
    }
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

Json ToJson(const LrSearch& search) {
  Json json = {
      {"key", search.key},         {"lr_scale", search.lr_scale},  {"diverged", search.diverged},
      {"seconds", search.seconds}, {"device", search.device},      {"lr", search.curve.lr},
      {"loss", search.curve.loss}, {"raw_loss", search.curve.raw}, {"suggestions", nullptr}};
  json["choices"] = search.choices.ToJson();
  if (search.suggestions) {
    json["suggestions"] = {{"valley", search.suggestions->valley},
                           {"steepest", search.suggestions->steepest},
                           {"minimum_tenth", search.suggestions->minimum_tenth}};
  }
  return json;
}

std::string Advice(const LrSearch& search, const LrFindArguments& arguments) {
  if (!search.suggestions) {
    return "The loss does not fall anywhere on this curve, so nothing is suggested: take more "
           "steps, a wider range (--low, --high) or a look at the data.\n";
  }
  std::vector<std::vector<std::string>> rows = {{"suggestion", "rate", "loss", ""}};
  for (const Suggestion& suggestion : ListOf(*search.suggestions)) {
    rows.push_back({suggestion.name, fmt::format("{:.3g}", suggestion.rate),
                    fmt::format("{:.4g}", LossAt(search.curve, suggestion.rate)),
                    suggestion.meaning});
  }
  std::string text = TableText(rows);
  const double value = search.suggestions->valley / search.lr_scale;
  text += fmt::format("\nSet the rate:\n  stoker train {} --set {}={:.3g}\n",
                      ShellWord(arguments.recipe), search.key, value);
  if (search.lr_scale != 1) {
    text +=
        fmt::format("(train.lr_scaling multiplies it by {:.3g}, so this is the valley over that)\n",
                    search.lr_scale);
  }
  return text;
}

}  // namespace

Status RunLrFind(const LrFindArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(const Recipe recipe, LoadRecipe(arguments.recipe, arguments.set));
  const LrRangeOptions options{.low = arguments.low,
                               .high = arguments.high,
                               .steps = arguments.steps,
                               .linear = arguments.linear,
                               .smooth = arguments.smooth};
  STOKER_ASSIGN_OR_RETURN(const LrSearch search, FindLr(recipe, options, nullptr));
  const Chart chart = ChartOf(search, arguments);
  STOKER_RETURN_IF_ERROR(WriteChart(chart, arguments.chart));
  if (arguments.json) return PrintResult(DumpJson(ToJson(search)) + "\n");
  return PrintResult(ChartForTerminal(chart) +
                     fmt::format("\n{} steps in {} on {}, {}{}\n\n", search.curve.lr.size(),
                                 DurationText(search.seconds), search.device,
                                 search.choices.ToString(),
                                 search.diverged ? "; stopped where the loss diverged" : "") +
                     Advice(search, arguments));
}

}  // namespace stoker
