#include "stoker/train/metrics/class_values_internal.h"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <limits>

namespace stoker {

void BatchesMean::Add(const at::Tensor& sum, const at::Tensor& weight) {
  sum_ = sum_.defined() ? sum_ + sum : sum;
  weight_ = weight_.defined() ? weight_ + weight : weight;
}

double BatchesMean::Value() const { return sum_.item<double>() / weight_.item<double>(); }

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

Json ValueOrNull(double value) { return std::isnan(value) ? Json() : Json(value); }

Json ListOf(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(ValueOrNull(value));
  return list;
}

}  // namespace stoker
