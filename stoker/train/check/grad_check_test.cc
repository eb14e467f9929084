#include "stoker/train/check/grad_check.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/losses/focal.h"

namespace stoker::grad_check_test {

using Inputs = std::vector<at::Tensor>;

// x^2, whose backward pass is off by a factor.
struct Square : torch::autograd::Function<Square> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            double factor) {
    context->save_for_backward({x});
    context->saved_data["factor"] = factor;
    return x * x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor x = context->get_saved_variables()[0];
    return {gradients[0] * 2 * x * context->saved_data["factor"].toDouble(), at::Tensor()};
  }
};

at::Tensor Some(at::IntArrayRef shape) {
  torch::manual_seed(3);
  return torch::randn(shape, torch::kDouble);
}

TEST(GradCheck, AcceptsARightGradientOfSeveralInputsAndOutputs) {
  STOKER_EXPECT_OK(GradCheck([](const Inputs& in) { return (in[0].mm(in[1])).tanh(); },
                             {Some({3, 2}), Some({2, 4})}));
  STOKER_EXPECT_OK(
      GradCheck([](const Inputs& in) { return Square::apply(in[0], 1.0); }, {Some({2, 3})}));
}

TEST(GradCheck, RefusesAWrongGradientAndSaysWhere) {
  const Status status =
      GradCheck([](const Inputs& in) { return in[0].sum() + Square::apply(in[1], 1.01); },
                {Some({2}), Some({3})}, {.relative = 1e-4});
  EXPECT_THAT(status, FailsWith(StatusCode::kInternal,
                                "input 1: the derivative of output value 0 by input value 0"));
}

TEST(GradCheck, NoticesAGradientThatIsForgotten) {
  EXPECT_THAT(
      GradCheck([](const Inputs& in) { return in[0] + in[1].detach(); }, {Some({2}), Some({2})}),
      FailsWith(StatusCode::kInternal, "input 1"));
}

TEST(GradCheck, InputsOfOtherTypesAreHandedOverAsTheyAre) {
  STOKER_EXPECT_OK(GradCheck([](const Inputs& in) { return in[0].index_select(0, in[1]); },
                             {Some({3}), torch::tensor({2L, 0L})}));
}

TEST(GradCheck, LeavesItsInputsAlone) {
  const at::Tensor input = Some({3}), before = input.clone();
  STOKER_EXPECT_OK(GradCheck([](const Inputs& in) { return in[0].exp(); }, {input}));
  EXPECT_TRUE(torch::equal(input, before));
  EXPECT_FALSE(input.requires_grad());
}

TEST(GradCheck, WhatCannotBeCheckedIsRefused) {
  EXPECT_THAT(GradCheck([](const Inputs& in) { return in[0].exp(); }, {torch::ones({2})}),
              FailsWith(StatusCode::kInvalidArgument, "no input is float64"));
  EXPECT_THAT(GradCheck([](const Inputs& in) { return torch::rand_like(in[0]); }, {Some({4})}),
              FailsWith(StatusCode::kInvalidArgument, "other values for the same inputs"));
  EXPECT_THAT(GradCheck([](const Inputs& in) { return in[0].detach(); }, {Some({4})}),
              FailsWith(StatusCode::kInvalidArgument, "depends on no input"));
  EXPECT_FALSE(GradCheck([](const Inputs& in) { return in[0].mm(in[0]); }, {Some({2, 3})}).ok());
}

TEST(GradCheck, OurLossesHaveTheGradientsOfTheirFormulas) {
  const at::Tensor target = torch::tensor({0L, 2L, 1L, 2L});
  const auto check = [&](const auto& kind) {
    const auto loss = *kind.Build();
    return GradCheck([&](const Inputs& in) { return loss->Mean(in[0], target); }, {Some({4, 3})});
  };
  STOKER_EXPECT_OK(check(CrossEntropy{.label_smoothing = .1, .weights = {1, 2, 3}}));
  STOKER_EXPECT_OK(check(Focal{.gamma = .5}));
  STOKER_EXPECT_OK(check(Focal{.gamma = 2, .weights = {1, 2, 3}}));
}

}  // namespace stoker::grad_check_test
