// Evaluation: how good a model was on a dataset.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/json.h"

namespace stoker {

struct Evaluation {
  int64_t samples = 0;
  double loss = 0;  // mean
  // Share of samples that were taken for what they are, 0 to 1, or where they have several labels
  // share of all their labels; nothing where targets are numbers.
  std::optional<double> accuracy = {};
  double seconds = 0;
  Json metrics = nullptr;  // of MetricSet, by name; null where none was asked for

  Json ToJson() const;  // without accuracy where there is none
};

}  // namespace stoker
