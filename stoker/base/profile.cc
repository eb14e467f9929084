#include "stoker/base/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stoker {
namespace {

constexpr size_t kColumns = 9;
using Row = std::array<std::string, kColumns>;

double PerSecond(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0.0; }

// What failed here, or what this stage did about elements that failed before it.
std::string ErrorsText(const StageProfile& stage) {
  std::string text;
  const auto add = [&](int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{}{}", text.empty() ? "" : ", ", count, what);
  };
  add(stage.errors, "");
  add(stage.skipped, " skipped");
  add(stage.replaced, " replaced");
  return text.empty() ? "0" : text;
}

Row RowOf(const StageProfile& stage, const Profile& profile) {
  const double thread_seconds = profile.wall_s * std::max(1, profile.threads);
  const auto time = [&](double seconds) {
    return fmt::format("{:.3f} s {:3.0f}%", seconds, 100.0 * PerSecond(seconds, thread_seconds));
  };
  return {stage.name,
          std::to_string(stage.elements),
          fmt::format("{:.0f}", PerSecond(static_cast<double>(stage.elements), profile.wall_s)),
          fmt::format("{:.1f}", PerSecond(static_cast<double>(stage.bytes) * 1e-6, profile.wall_s)),
          time(stage.busy_s),
          time(stage.starved_s),
          time(stage.blocked_s),
          stage.queue_capacity > 0
              ? fmt::format("{:.1f}/{}", stage.mean_queue_depth, stage.queue_capacity)
              : "-",
          ErrorsText(stage)};
}

}  // namespace

StageProfile StageProfile::Of(const StageStats& stats) {
  const auto seconds = [](const SummedTime& time) { return static_cast<double>(time.ns()) * 1e-9; };
  const int64_t samples = stats.queue_samples_.load(std::memory_order_relaxed);
  const int64_t depth_sum = stats.queue_depth_sum_.load(std::memory_order_relaxed);
  return {.name = stats.name(),
          .elements = stats.elements_.load(std::memory_order_relaxed),
          .bytes = stats.bytes_.load(std::memory_order_relaxed),
          .busy_s = seconds(stats.busy_),
          .starved_s = seconds(stats.starved_),
          .blocked_s = seconds(stats.blocked_),
          .errors = stats.errors_.load(std::memory_order_relaxed),
          .skipped = stats.skipped_.load(std::memory_order_relaxed),
          .replaced = stats.replaced_.load(std::memory_order_relaxed),
          .mean_queue_depth =
              samples == 0 ? 0.0 : static_cast<double>(depth_sum) / static_cast<double>(samples),
          .queue_capacity = stats.queue_capacity_.load(std::memory_order_relaxed)};
}

Json Profile::ToJson() const {
  Json stages_json = Json::array();
  for (const StageProfile& stage : stages) {
    stages_json.push_back({{"name", stage.name},
                           {"elements", stage.elements},
                           {"bytes", stage.bytes},
                           {"busy_s", stage.busy_s},
                           {"starved_s", stage.starved_s},
                           {"blocked_s", stage.blocked_s},
                           {"errors", stage.errors},
                           {"skipped", stage.skipped},
                           {"replaced", stage.replaced},
                           {"mean_queue_depth", stage.mean_queue_depth},
                           {"queue_capacity", stage.queue_capacity},
                           {"peak_memory_bytes", stage.peak_memory_bytes}});
  }
  return {{"schema", 1},
          {"rank", rank},
          {"host", host},
          {"wall_s", wall_s},
          {"threads", threads},
          {"consumer_waited_s", consumer_waited_s},
          {"peak_memory_bytes", peak_memory_bytes},
          {"stages", std::move(stages_json)}};
}

std::string Profile::ToText() const {
  std::vector<Row> rows = {
      {"stage", "elements", "elements/s", "MB/s", "busy", "starved", "blocked", "queue", "errors"}};
  for (const StageProfile& stage : stages) rows.push_back(RowOf(stage, *this));
  std::array<size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);  // names to the left, figures to the right
    for (size_t i = 1; i < kColumns; ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  text += fmt::format(
      "{:.3f} s on {} thread{}, the consumer waited {:.3f} s, at most {:.1f} MB held; % is of wall "
      "time x threads\n",
      wall_s, threads, threads == 1 ? "" : "s", consumer_waited_s,
      static_cast<double>(peak_memory_bytes) * 1e-6);
  return text;
}

}  // namespace stoker
