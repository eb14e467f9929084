#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/tools/chart/run_plot.h"
#include "stoker/tools/compare/run_figures.h"
#include "stoker/tools/program/html_text.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/report/report_sections_internal.h"
#include "stoker/tools/top/top_verdict.h"

namespace stoker {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// A name and a value each.
std::string ListHtml(const Rows& rows) {
  if (rows.empty()) return {};
  std::string html = "<dl>\n";
  for (const auto& row : rows) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", EscapedHtml(row[0]),
                        EscapedHtml(row[1]));
  }
  return html + "</dl>\n";
}

std::string ParagraphHtml(std::string_view text) {
  return fmt::format("<p>{}</p>\n", EscapedHtml(text));
}

std::string PercentText(double share) { return fmt::format("{:.1f} %", 100 * share); }

double NumberIn(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::string TextIn(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool Has(const RunMetrics& metrics, std::string_view name) {
  return std::ranges::any_of(metrics.columns,
                             [&](const MetricColumn& column) { return column.name == name; });
}

// Nothing if the run has none of the figures.
std::string ChartHtml(const RunMetrics& metrics, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string& name) { return !Has(metrics, name); });
  if (names.empty()) return {};
  const Result<RunPlot> plot = PlotRuns(std::span(&metrics, 1), {.metrics = std::move(names)});
  if (!plot.ok()) return ParagraphHtml(plot.status().message());
  return "<figure>" + ChartToSvg(plot->chart) + "</figure>\n";
}

}  // namespace

std::string FiguresHtml(const RunReport& report) {
  const RunFigures figures = FiguresOf(report.record);
  Rows rows;
  for (const EvaluationFigure& figure : figures.evaluations) {
    if (figure.name == "accuracy" || figure.name == "loss")
      rows.push_back({"test " + figure.name, FigureText(figure.last)});
  }
  if (figures.samples_per_s)
    rows.push_back({figures.noun + "s a second", WithThousands(*figures.samples_per_s)});
  if (figures.train_seconds)
    rows.push_back({"time in training", DurationText(*figures.train_seconds)});
  if (report.progress) {
    rows.push_back(
        {"steps", fmt::format("{} of {}", WithThousands(static_cast<double>(report.progress->step)),
                              WithThousands(static_cast<double>(report.progress->total_steps)))});
  }
  if (figures.waited) rows.push_back({"waited for data", PercentText(*figures.waited)});
  if (figures.peak_rss_bytes)
    rows.push_back({"most memory", ByteText(static_cast<uint64_t>(*figures.peak_rss_bytes))});
  return ListHtml(rows);
}

std::string VerdictHtml(const RunReport& report) {
  const std::optional<Starvation>& starved = report.record.metrics.starved;
  std::string body;
  if (report.verdict) body += ParagraphHtml(VerdictText(*report.verdict));
  if (starved) body += ParagraphHtml(starved->Sentence() + ".");
  const std::string advice = report.verdict ? AdviceFor(*report.verdict, starved)
                             : starved      ? starved->advice
                                            : "";
  if (!advice.empty()) body += fmt::format("<p><b>Try:</b> {}</p>\n", EscapedHtml(advice));
  if (body.empty()) return {};
  return HtmlSection(
      "Verdict",
      "<div class=\"verdict\">" + body + "</div>\n" +
          ParagraphHtml("By the rules of `stoker doctor`, from what the run itself has seen. "
                        "`stoker doctor RECIPE` measures the parts of the run apart, and says what "
                        "each change would gain."));
}

std::string CurvesHtml(const RunReport& report) {
  const RunMetrics& metrics = report.record.metrics;
  return HtmlSection("Curves", ChartHtml(metrics, {"loss", "accuracy"}) +
                                   ChartHtml(metrics, {"lr", "images_per_s", "waited"}));
}

std::string EvaluationsHtml(const RunReport& report) {
  Rows rows = {{"figure", "last", "at step", "best", "at step"}};
  for (const EvaluationFigure& figure : FiguresOf(report.record).evaluations) {
    rows.push_back({figure.name, FigureText(figure.last), WithThousands(figure.last_step),
                    FigureText(figure.best), WithThousands(figure.best_step)});
  }
  return rows.size() == 1 ? "" : HtmlSection("Evaluations", HtmlTable(rows, {1, 2, 3, 4}));
}

std::string ChoicesHtml(const RunReport& report) {
  std::string body;
  if (report.record.choices) {
    body += ParagraphHtml(fmt::format("The run computed with: {}, on {}.",
                                      report.record.choices->ToString(),
                                      report.record.choices->device));
  }
  const Json& tuning = report.tuning;
  if (!tuning.is_object()) return HtmlSection("Choices", body);
  const std::string reason = TextIn(tuning, "reason");
  if (!reason.empty()) body += ParagraphHtml("Because: " + reason + ".");
  const auto trials = tuning.find("trials");
  Rows rows = {{"alternative", "ms a step", "gain", "kept", "verdict"}};
  if (trials != tuning.end() && trials->is_array()) {
    for (const Json& trial : *trials) {
      if (!trial.is_object()) continue;
      const double ms = NumberIn(trial, "ms_a_step"), gain = NumberIn(trial, "gain");
      const Json kept = trial.value("kept", Json());
      rows.push_back({TextIn(trial, "change"), ms > 0 ? fmt::format("{:.2f}", ms) : "",
                      gain > 0 ? fmt::format("{:.2f} times", gain) : "",
                      kept.is_boolean() && kept.get<bool>() ? "yes" : "",
                      TextIn(trial, "verdict")});
    }
  }
  if (rows.size() > 1) body += HtmlTable(rows, {1, 2});
  return HtmlSection("Choices", body);
}

std::string TimesHtml(const RunReport& report) {
  if (!report.window) return {};
  const TimeShares shares = TimeSharesOf(*report.window);
  const std::pair<const char*, double> parts[] = {
      {"computing", shares.compute},      {"waiting for data", shares.wait},
      {"evaluations", shares.evaluation}, {"checkpoints", shares.checkpoint},
      {"logging", shares.logging},        {"anything else", shares.other}};
  std::string bar;
  Rows rows = {{"part", "share", "time"}};
  double begin = 0;
  for (size_t i = 0; i < std::size(parts); ++i) {
    const auto& [name, share] = parts[i];
    bar += fmt::format("<rect class=\"part{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"40\"/>", i,
                       1000 * begin, 1000 * share);
    begin += share;
    rows.push_back({name, PercentText(share), DurationText(share * report.window->seconds)});
  }
  const bool resumed = report.progress && report.progress->step != report.window->work.steps;
  std::string note =
      fmt::format("Of {} from the begin of the steps{}.", DurationText(report.window->seconds),
                  resumed ? "; of the last process of the run alone" : "");
  const double tuning = report.tuning.is_object() ? NumberIn(report.tuning, "seconds") : 0;
  if (tuning > 0) note += fmt::format(" Trying alternatives took {} before.", DurationText(tuning));
  return HtmlSection("Where the time went",
                     "<svg class=\"bar\" viewBox=\"0 0 1000 40\" preserveAspectRatio=\"none\" "
                     "role=\"img\" aria-label=\"Shares of the time, as in the table\">" +
                         bar + "</svg>\n<div class=\"keyed\">" + HtmlTable(rows, {1, 2}) +
                         "</div>" + ParagraphHtml(note));
}

std::string StagesHtml(const RunReport& report) {
  if (!report.window || report.window->rates.empty()) return {};
  Rows rows = {{"stage", "elements", "elements/s", "busy", "starved", "blocked"}};
  const RunWindow& window = *report.window;
  for (size_t i = 0; i < window.rates.size(); ++i) {
    const StageRate& rate = window.rates[i];
    rows.push_back({rate.name, WithThousands(static_cast<double>(window.stages[i].elements)),
                    WithThousands(rate.elements_per_s), fmt::format("{:.2f}", rate.busy),
                    fmt::format("{:.2f}", rate.starved), fmt::format("{:.2f}", rate.blocked)});
  }
  return HtmlSection(
      "Stages of the input",
      HtmlTable(rows, {1, 2, 3, 4, 5}) +
          ParagraphHtml("Threads on average: busy with a stage's own work, starved while they "
                        "wait for its input, blocked while its consumer or memory holds them."));
}

std::string MachineHtml(const RunReport& report) {
  Rows rows;
  const auto add = [&](const char* name, std::string text) {
    if (!text.empty()) rows.push_back({name, std::move(text)});
  };
  if (report.progress) add("device", report.progress->device);
  if (const auto& environment = report.record.environment) {
    add("host", environment->host);
    add("CPU", environment->cpu);
    if (environment->cpus > 0) add("CPUs that it could use", std::to_string(environment->cpus));
    if (environment->memory_bytes > 0)
      add("memory", ByteText(static_cast<uint64_t>(environment->memory_bytes)));
    add("Linux", environment->kernel);
    add("Stoker", environment->stoker);
    add("torch", environment->torch);
  }
  return HtmlSection("Machine and versions", ListHtml(rows));
}

std::string RecipeHtml(const RunReport& report) {
  return HtmlSection("Recipe",
                     "<pre>" + EscapedHtml(WithoutSecrets(report.recipe_text)) + "</pre>\n");
}

std::string NotesHtml(const RunReport& report) {
  std::string items;
  for (const std::string& note : report.record.notes)
    items += fmt::format("<li>{}</li>\n", EscapedHtml(WithoutSecrets(note)));
  return items.empty() ? "" : HtmlSection("Notes", "<ul>\n" + items + "</ul>\n");
}

}  // namespace stoker
