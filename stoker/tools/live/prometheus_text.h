// Prometheus's text format (https://prometheus.io/docs/instrumenting/exposition_formats/).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

// The Content-Type of such a page.
inline constexpr std::string_view kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

enum class MetricType { kCounter, kGauge };

// Writes families of metrics, one after the other.
class PrometheusText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Begins a family. Samples follow; one without samples is not written.
  //   name  by the conventions of Prometheus: with its base unit, and "_total" for counters
  void Family(std::string_view name, MetricType type, std::string_view help);

  // Values of labels may hold any bytes; those that are no UTF-8 are written as escapes.
  void Sample(double value, const Labels& labels = {});

  // A family of one sample.
  void One(std::string_view name, MetricType type, std::string_view help, double value) {
    Family(name, type, help);
    Sample(value);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_, head_, name_;
};

}  // namespace stoker
