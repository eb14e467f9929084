#include <fmt/format.h>

#include <cmath>

#include "stoker/base/printable.h"
#include "stoker/tools/compare/comparison.h"
#include "stoker/tools/program/help_formatter.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kWidth = 80;

// "a", "b", ... "z", then numbers.
std::string Letter(size_t run) {
  return run < 26 ? std::string(1, static_cast<char>('a' + run)) : std::to_string(run + 1);
}

std::string Wrapped(std::string_view text, size_t indent) {
  return fmt::format("{}{}\n", std::string(indent, ' '),
                     WrapText(Printable(text), kWidth, indent + 2));
}

std::string HeadText(const Comparison& comparison) {
  std::string text;
  for (size_t i = 0; i < comparison.runs.size(); ++i) {
    const RunRecord& run = comparison.runs[i];
    text += fmt::format(
        "{}  {}\n", Letter(i),
        WrapText(Printable(fmt::format("{}: {}", run.name, run.state.headline)), kWidth, 3));
    for (const std::string& note : run.notes) text += Wrapped("left out: " + note, 3);
  }
  return text;
}

std::string LinesText(const RecipeDifference& difference, std::string_view a, std::string_view b) {
  std::string lines;
  if (difference.line_before > 0) lines += fmt::format("{}:{}", a, difference.line_before);
  if (difference.line_after > 0)
    lines += fmt::format("{}{}:{}", lines.empty() ? "" : ", ", b, difference.line_after);
  return lines.empty() ? "" : fmt::format(" (line {})", lines);
}

std::string ListText(std::string_view name, const DifferenceList& list) {
  if (!list.unknown.empty()) return Wrapped(fmt::format("{}: unknown, {}", name, list.unknown), 0);
  if (list.differences.empty()) return fmt::format("{}: the same\n", name);
  std::string text = fmt::format("{}\n", name);
  for (const std::string& difference : list.differences) text += Wrapped(difference, 2);
  return text;
}

std::string DifferencesText(const RunDifferences& differences, std::string_view a,
                            std::string_view b) {
  std::string text = differences.recipe.empty() ? "recipe: the same\n" : "recipe\n";
  for (const RecipeDifference& each : differences.recipe)
    text += Wrapped(each.change + LinesText(each, a, b), 2);
  return text + ListText("code", differences.code) + ListText("data", differences.data) +
         ListText("machine", differences.machine) + ListText("choices", differences.choices);
}

std::string Percent(double ratio) { return fmt::format("{:.2g}", std::fabs(ratio - 1) * 100); }

// "faster by 12 % (8 to 16 %)"
std::string RateText(const NoisyChange& rate) {
  if (!std::isfinite(rate.change)) return "";
  switch (rate.verdict) {
    case NoiseVerdict::kHigher:
      return fmt::format("faster by {} % ({} to {} %)", Percent(rate.change), Percent(*rate.low),
                         Percent(*rate.high));
    case NoiseVerdict::kLower:
      return fmt::format("slower by {} % ({} to {} %)", Percent(rate.change), Percent(*rate.high),
                         Percent(*rate.low));
    case NoiseVerdict::kNoise: return "no difference beyond noise";
    case NoiseVerdict::kUnknown: break;
  }
  return "too few lines to tell";
}

// "higher by 0.012 (0.004 to 0.020)"
std::string ShareText(const NoisyChange& share) {
  if (share.verdict == NoiseVerdict::kNoise) return "no difference beyond noise";
  if (share.verdict == NoiseVerdict::kUnknown) return "";
  const bool higher = share.verdict == NoiseVerdict::kHigher;
  const double least = std::fabs(higher ? *share.low : *share.high);
  const double most = std::fabs(higher ? *share.high : *share.low);
  return fmt::format("{} by {:.4f} ({:.4f} to {:.4f})", higher ? "higher" : "lower",
                     std::fabs(share.change), least, most);
}

std::string Optional(const std::optional<double>& value,
                     const std::function<std::string(double)>& text) {
  return value && std::isfinite(*value) ? text(*value) : "-";
}

std::string PercentOf(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string ReachedText(const std::optional<ReachedAt>& reached) {
  if (!reached) return "never";
  if (!std::isfinite(reached->seconds)) return fmt::format("step {}", WithThousands(reached->step));
  return DurationText(reached->seconds);
}

std::string ValueText(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value);
}

using TextTable = std::vector<std::vector<std::string>>;

void AddEvaluations(const RunFigures& before, const RunFigures& after,
                    const RunComparison& comparison, TextTable& rows) {
  for (const RunComparison::Metric& metric : comparison.metrics) {
    const EvaluationFigure &x = *before.Find(metric.name), &y = *after.Find(metric.name);
    rows.push_back({metric.name + ", last", ValueText(x.last), ValueText(y.last),
                    metric.last ? ShareText(*metric.last) : ""});
    rows.push_back({metric.name + ", best", ValueText(x.best), ValueText(y.best)});
  }
}

void AddEvaluationsOfOne(const RunFigures& before, const RunFigures& after, TextTable& rows) {
  for (const RunFigures* const run : {&before, &after}) {
    for (const EvaluationFigure& figure : run->evaluations) {
      if (before.Find(figure.name) != nullptr && after.Find(figure.name) != nullptr) continue;
      const auto add = [&](const char* which, double value) {
        const std::string text = ValueText(value);
        rows.push_back({figure.name + which, run == &before ? text : "-",
                        run == &before ? "-" : text, "only one has it"});
      };
      add(", last", figure.last);
      add(", best", figure.best);
    }
  }
}

std::string FiguresText(const Comparison& all, size_t run) {
  const RunFigures &a = all.figures[0], &b = all.figures[run];
  const RunComparison& comparison = all.comparisons[run - 1];
  const std::string noun = a.noun == b.noun ? a.noun : "sample";
  const auto whole = [](double value) { return WithThousands(value); };
  const auto bytes = [](const std::optional<int64_t>& value) {
    return value ? ByteText(static_cast<uint64_t>(*value)) : std::string("-");
  };
  TextTable rows = {
      {"", Letter(0), Letter(run), ""},
      {noun + "s per second", Optional(a.samples_per_s, whole), Optional(b.samples_per_s, whole),
       RateText(comparison.rate)},
      {"waiting for data", Optional(a.waited, PercentOf), Optional(b.waited, PercentOf)},
      {"steps", Optional(a.steps, whole), Optional(b.steps, whole)},
      {"time in steps", Optional(a.train_seconds, DurationText),
       Optional(b.train_seconds, DurationText)},
      {"memory, most", bytes(a.peak_rss_bytes), bytes(b.peak_rss_bytes)}};
  if (all.goal) {
    rows.push_back({fmt::format("time to {} {:.4g}", all.goal->metric, all.goal->value),
                    ReachedText(all.goal->reached[0]), ReachedText(all.goal->reached[run])});
  }
  AddEvaluations(a, b, comparison, rows);
  AddEvaluationsOfOne(a, b, rows);
  return "figures\n" + TableText(rows, 2);
}

}  // namespace

std::string Comparison::ToText() const {
  std::string text = HeadText(*this);
  for (size_t i = 1; i < runs.size(); ++i) {
    text += runs.size() == 2 ? "\n" : fmt::format("\n{} compared with {}\n", Letter(i), Letter(0));
    text += DifferencesText(comparisons[i - 1].differences, Letter(0), Letter(i));
    text += FiguresText(*this, i);
  }
  return text;
}

}  // namespace stoker
