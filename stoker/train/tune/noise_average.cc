#include "stoker/train/tune/noise_average.h"

#include <cmath>
#include <utility>

namespace stoker {

NoiseEstimate EstimateNoise(const GradientNorm& small, const GradientNorm& big) {
  const double b = small.samples, B = big.samples;
  return {.gradient = (B * big.squared - b * small.squared) / (B - b),
          .noise = (small.squared - big.squared) / (1 / b - 1 / B)};
}

std::optional<double> NoiseAverage::Add(const GradientNorm& small, const GradientNorm& big) {
  const NoiseEstimate estimate = EstimateNoise(small, big);
  if (std::isfinite(estimate.gradient) && std::isfinite(estimate.noise)) {
    gradient_.Add(estimate.gradient);
    noise_.Add(estimate.noise);
  }
  return scale();
}

// Both have taken in as many values, so what Adam's correction divides them by is the same.
std::optional<double> NoiseAverage::scale() const {
  const double gradient = gradient_.state().sum, noise = noise_.state().sum;
  if (!(gradient > 0) || !(noise > 0)) return std::nullopt;
  return noise / gradient;
}

Json NoiseAverage::Save() const {
  return {{"gradient", {gradient_.state().sum, gradient_.state().left}},
          {"noise", {noise_.state().sum, noise_.state().left}}};
}

Status NoiseAverage::Restore(const Json& state) {
  for (const auto& [name, mean] :
       {std::pair("gradient", &gradient_), std::pair("noise", &noise_)}) {
    const Json pair = state.is_object() ? state.value(name, Json()) : Json();
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
      return DataLoss("the noise scale's running mean '{}' is missing", name);
    }
    mean->Restore({pair[0].get<double>(), pair[1].get<double>()});
  }
  return OkStatus();
}

}  // namespace stoker
