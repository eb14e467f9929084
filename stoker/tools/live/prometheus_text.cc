#include "stoker/tools/live/prometheus_text.h"

#include <fmt/format.h>

#include <cmath>

#include "stoker/base/printable.h"

namespace stoker {
namespace {

std::string ValueText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);  // the shortest that is read back the same
}

// Backslashes too: Printable writes what no terminal should get as escapes, which begin with one.
std::string Escaped(std::string_view value) {
  std::string escaped;
  for (const char c : Printable(value)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

void PrometheusText::Family(std::string_view name, MetricType type, std::string_view help) {
  name_ = name;
  head_ = fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help,
                      type == MetricType::kCounter ? "counter" : "gauge");
}

void PrometheusText::Sample(double value, const Labels& labels) {
  text_ += head_;
  head_.clear();
  text_ += name_;
  for (size_t i = 0; i < labels.size(); ++i) {
    text_ +=
        fmt::format("{}{}=\"{}\"", i == 0 ? '{' : ',', labels[i].first, Escaped(labels[i].second));
  }
  if (!labels.empty()) text_ += '}';
  text_ += fmt::format(" {}\n", ValueText(value));
}

}  // namespace stoker
