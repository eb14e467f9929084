#include "stoker/run/metric_names.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "stoker/base/problems.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

constexpr std::string_view kOfCounts[] = {"confusion", "precision", "recall", "f1"};
constexpr std::string_view kOthers[] = {"auc", "mse", "mae"};

bool IsAmong(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::optional<int64_t> TopOfMetric(std::string_view name) {
  if (!name.starts_with("top")) return std::nullopt;
  int64_t k = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), k);
  if (error != std::errc() || end != name.data() + name.size() || k < 1) return std::nullopt;
  return k;
}

bool IsMetricOfCounts(std::string_view name) { return IsAmong(name, kOfCounts); }

Status CheckMetricNames(const std::vector<std::string>& names) {
  Problems problems;
  for (const std::string& name : names) {
    if (std::ranges::count(names, name) > 1) {
      problems.Add(
          InvalidArgument("train.metrics: '{}' is named twice; once is enough", ShortText(name)));
    }
    if (TopOfMetric(name) || IsMetricOfCounts(name) || IsAmong(name, kOthers)) continue;
    problems.Add(InvalidArgument("train.metrics: there is no metric '{}'; known are {}",
                                 ShortText(name), kMetricNames));
  }
  return problems.ToStatus();
}

}  // namespace stoker
