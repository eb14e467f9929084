#include "stoker/train/step/clipping.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"

namespace stoker::clipping_test {

at::Tensor WithGradient(const at::Tensor& values, const at::Tensor& gradient) {
  at::Tensor parameter = values.clone().requires_grad_();
  parameter.mutable_grad() = gradient.clone();
  return parameter;
}

// Gradients 3, 4 and 0, 12: their norm together is 13.
std::vector<at::Tensor> Thirteen(at::ScalarType type) {
  return {WithGradient(torch::ones({2}, type), torch::tensor({3.0, 4.0}, type)),
          WithGradient(torch::ones({2}, type), torch::tensor({0.0, 12.0}, type)),
          torch::ones({2}, type).requires_grad_()};
}

TEST(ClipGradients, TheNormOfAllTogetherIsMadeAsLargeAsAllowed) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto parameters = Thirteen(type);
    ClipGradients({.norm = 1.3}, parameters);
    EXPECT_TRUE(torch::allclose(parameters[0].grad(), torch::tensor({.3, .4}, type), 1e-6));
    EXPECT_TRUE(torch::allclose(parameters[1].grad(), torch::tensor({0.0, 1.2}, type), 1e-6));
    EXPECT_FALSE(parameters[2].grad().defined());
  }
}

TEST(ClipGradients, WhatIsSmallEnoughKeepsItsBits) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto parameters = Thirteen(type), same = Thirteen(type);
    ClipGradients({.norm = 14, .value = 13, .adaptive = 20}, parameters);
    ClipGradients({}, parameters);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(torch::equal(parameters[i].grad(), same[i].grad()));
    }
  }
}

TEST(ClipGradients, ValuesAreClippedBeforeTheNormIsTaken) {
  const auto parameters = Thirteen(at::kFloat);
  ClipGradients({.value = 4}, parameters);
  EXPECT_TRUE(torch::equal(parameters[1].grad(), torch::tensor({0.0f, 4.0f})));
  // Now 3, 4, 0, 4.
  ClipGradients({.norm = std::sqrt(41.0) / 2, .value = 4}, parameters);
  EXPECT_TRUE(torch::allclose(parameters[0].grad(), torch::tensor({1.5f, 2.0f}), 1e-5));
}

// Rows whose gradients are too long for their weights are shortened to a tenth of these.
TEST(ClipGradients, AdaptivelyEachRowIsHeldToItsOwnWeights) {
  const auto parameter = WithGradient(torch::tensor({3.0, 4.0, 0.0, 0.0, 3.0, 4.0}).view({3, 2}),
                                      torch::tensor({6.0, 8.0, 3.0, 4.0, 0.1, 0.0}).view({3, 2}));
  ClipGradients({.adaptive = .1}, {parameter});
  EXPECT_TRUE(torch::allclose(parameter.grad(),
                              torch::tensor({.3, .4, .6e-4, .8e-4, .1, 0.0}).view({3, 2}), 1e-5));
}

TEST(ClipGradients, ANanStaysOne) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto parameters = Thirteen(type);
    parameters[0].mutable_grad()[0] = NAN;
    ClipGradients({.norm = 1, .value = 5, .adaptive = .1}, parameters);
    EXPECT_TRUE(torch::isnan(parameters[1].grad()).any().item<bool>());
  }
}

TEST(ClipGradients, GivesTheSameBytesOnAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  std::vector<at::Tensor> clipped;
  for (const int count : {1, 2, 3, 5}) {
    at::set_num_threads(count);
    torch::manual_seed(1);
    const auto parameter = WithGradient(torch::ones({300'001}), torch::randn({300'001}));
    ClipGradients({.norm = 1}, {parameter});
    clipped.push_back(parameter.grad());
  }
  at::set_num_threads(threads);
  for (const at::Tensor& other : clipped) EXPECT_TRUE(torch::equal(clipped[0], other));
}

}  // namespace stoker::clipping_test
