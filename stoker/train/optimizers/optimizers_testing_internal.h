// Steps of optimizers over three weights. Only tests include it.
#pragma once

#include <torch/utils.h>

#include <memory>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/run/optimizer.h"
#include "stoker/train/core/parameters.h"

namespace stoker::optimizers_testing {

inline at::Tensor Start(at::ScalarType type = at::kDouble) {
  return torch::tensor({1.0, 2.0, 3.0}, type).requires_grad_();
}

inline void SetGradient(at::Tensor& parameter, int t) {
  parameter.mutable_grad() =
      (torch::tensor({.1, -.2, .3}, torch::kDouble) * t).to(parameter.scalar_type());
}

template <typename Kind>
std::unique_ptr<Optimizer> Built(const Kind& kind, const TrainedParameters& parameters) {
  auto built = kind.Build(parameters);
  EXPECT_THAT(built, IsOk());
  return *std::move(built);
}

// Three steps, at the momenta given, if any.
template <typename Kind>
at::Tensor AfterThreeSteps(const Kind& kind, double lr, std::vector<double> momenta = {},
                           at::ScalarType type = at::kDouble) {
  at::Tensor parameter = Start(type);
  const auto optimizer = Built(kind, {{"p", parameter}});
  for (int t = 1; t <= 3; ++t) {
    SetGradient(parameter, t);
    ScheduleValue now{.lr = lr, .momentum = {}};
    if (!momenta.empty()) now.momentum = momenta[static_cast<size_t>(t - 1)];
    optimizer->Step(now);
  }
  return parameter.detach();
}

inline void ExpectValues(const at::Tensor& got, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got[static_cast<int64_t>(i)].item<double>(), expected[i], 1e-6 * expected[i]);
  }
}

}  // namespace stoker::optimizers_testing
