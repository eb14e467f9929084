#include "stoker/tools/trainer/metrics_text.h"

#include <fmt/format.h>

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

}  // namespace

std::vector<std::vector<std::string>> MetricRows(const Json& metrics) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : metrics.items()) {
    if (name == "confusion") {
      for (size_t i = 0; i < value.size(); ++i) {
        rows.push_back(RowOf(fmt::format("class {} taken for", i), value[i]));
      }
    } else {
      rows.push_back(value.is_array() ? RowOf(name, value)
                                      : std::vector<std::string>{name, CellOf(value)});
    }
  }
  return rows;
}

}  // namespace stoker
