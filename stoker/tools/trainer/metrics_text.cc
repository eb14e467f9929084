#include "stoker/tools/trainer/metrics_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/run/recipe.h"
#include "stoker/tools/trainer/prediction_text.h"

namespace stoker {
namespace {

// Null stands for what cannot be said, such as the recall of a class without samples.
std::string CellOf(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : "-";
}

std::vector<std::string> RowOf(std::string name, const Json& values) {
  std::vector<std::string> row = {std::move(name)};
  for (const Json& value : values) row.push_back(CellOf(value));
  return row;
}

std::vector<std::string> RowOfNames(const std::vector<std::string>& classes, size_t count) {
  std::vector<std::string> row = {""};
  for (size_t i = 0; i < count; ++i) row.push_back(Printable(ClassName(classes, i)));
  return row;
}

}  // namespace

std::vector<std::vector<std::string>> MetricRows(const Json& metrics,
                                                 const std::vector<std::string>& classes) {
  std::vector<std::vector<std::string>> single, by_class;
  const auto add_by_class = [&](std::string name, const Json& values) {
    if (by_class.empty()) by_class.push_back(RowOfNames(classes, values.size()));
    by_class.push_back(RowOf(std::move(name), values));
  };
  for (const auto& [name, value] : metrics.items()) {
    if (name == "confusion") {
      for (size_t i = 0; i < value.size(); ++i)
        add_by_class(Printable(ClassName(classes, i)) + " taken for", value[i]);
    } else if (value.is_array()) {
      add_by_class(name, value);
    } else if (!value.is_object()) {
      single.push_back({name, CellOf(value)});
    }
  }
  std::ranges::move(by_class, std::back_inserter(single));
  return single;
}

std::vector<std::vector<std::string>> MetricRows(const Json& metrics,
                                                 const std::vector<std::string>& classes,
                                                 const std::vector<PredictedTarget>& targets) {
  if (targets.empty()) return MetricRows(metrics, classes);
  std::vector<std::vector<std::string>> rows;
  for (const PredictedTarget& target : targets) {
    const std::string prefix = FigureOfTarget(target.name, "");
    Json own = Json::object();
    for (const auto& [name, value] : metrics.items()) {
      if (name.starts_with(prefix)) own[name.substr(prefix.size())] = value;
    }
    for (std::vector<std::string>& row : MetricRows(own, target.classes)) {
      row[0] = row[0].empty() ? target.name : FigureOfTarget(target.name, row[0]);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace stoker
