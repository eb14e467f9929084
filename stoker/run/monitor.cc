#include "stoker/run/monitor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/base/config.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

bool LowerIsBetter(const MeasuredFigure& figure, const std::string& mode) {
  if (mode != "auto") return mode == "min";
  return figure.better == Better::kLower;
}

// Elsewhere the figures of an evaluation are called "val_loss", "eval_loss".
std::string_view WithoutSide(std::string_view metric) {
  for (const std::string_view side : {"val_", "eval_", "valid_", "test_"}) {
    if (metric.starts_with(side)) return metric.substr(side.size());
  }
  return metric;
}

}  // namespace

Result<Monitor> Monitor::Create(std::string metric, const std::string& mode,
                                const std::vector<MeasuredFigure>& measured) {
  std::vector<MeasuredFigure> known = {{"loss", Better::kLower}, {"accuracy", Better::kHigher}};
  std::ranges::copy(measured, std::back_inserter(known));
  const auto figure = std::ranges::find(known, metric, &MeasuredFigure::name);
  if (figure == known.end()) {
    std::vector<std::string> names;
    for (const MeasuredFigure& each : known) names.push_back(each.name);
    return InvalidArgument("'{}' is no figure that evaluations give; {}; train.metrics adds more",
                           ShortText(metric), NameAdvice(WithoutSide(metric), names));
  }
  const bool lower = LowerIsBetter(*figure, mode);
  return Monitor(std::move(metric), lower);
}

double Monitor::ValueIn(const Evaluation& evaluation) const {
  if (metric_ == "loss") return evaluation.loss;
  if (metric_ == "accuracy") {
    return evaluation.accuracy.value_or(std::numeric_limits<double>::quiet_NaN());
  }
  const Json value =
      evaluation.metrics.is_object() ? evaluation.metrics.value(metric_, Json()) : Json();
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

bool Monitor::IsBetter(double value, double than, double margin) const {
  if (std::isnan(value)) return false;
  if (std::isnan(than)) return true;
  return lower_ ? value < than - margin : value > than + margin;
}

}  // namespace stoker
