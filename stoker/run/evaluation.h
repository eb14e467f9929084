// Evaluation: how good a model was on a dataset.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/json.h"

namespace stoker {

struct Evaluation {
  int64_t samples = 0;
  double loss = 0;  // mean
  // Share of correctly classified samples, 0 to 1, or of correct labels if samples have several,
  // or of their weights (train.weighted_metrics);
  // nothing if targets are numbers, or if there are several.
  std::optional<double> accuracy = {};
  double seconds = 0;
  Json metrics = nullptr;  // of MetricSet, by name; null if none was asked for

  Json ToJson() const;  // without accuracy if there is none
};

}  // namespace stoker
