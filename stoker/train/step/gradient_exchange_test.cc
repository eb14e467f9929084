#include "stoker/train/step/gradient_exchange.h"

#include <ATen/Functions.h>
#include <torch/types.h>

#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"

namespace stoker::gradient_exchange_test {

// Parameters of several sizes, so that buckets of a kilobyte hold one or several.
std::vector<at::Tensor> Parameters() {
  std::vector<at::Tensor> parameters;
  for (const int64_t size : {3, 200, 17, 400, 1}) {
    parameters.push_back(at::arange(size, at::kFloat).add_(1).requires_grad_(true));
  }
  return parameters;
}

// A rank's loss, whose gradient of parameter i is (rank + 1) * (i + 1).
at::Tensor LossOf(const std::vector<at::Tensor>& parameters, int64_t rank,
                  const std::vector<size_t>& used) {
  at::Tensor loss = at::zeros({});
  for (const size_t i : used)
    loss = loss + parameters[i].sum() * static_cast<double>((rank + 1) * (i + 1));
  return loss;
}

at::Tensor Totals(double value) { return at::full({2}, value, at::kDouble); }

TEST(GradientExchange, GivesEachRankTheSumsOfAll) {
  for (const int64_t bytes : {1, 1000, 1 << 20}) {
    AsRanks(3, [bytes](Group& group) {
      const int64_t rank = group.membership().rank;
      std::vector<at::Tensor> parameters = Parameters();
      GradientExchange exchange(group, parameters, bytes);
      for (int64_t step = 1; step <= 2; ++step) {
        exchange.Begin(step);
        LossOf(parameters, rank, {0, 1, 2, 3, 4}).backward();
        at::Tensor totals = Totals(static_cast<double>(rank));
        STOKER_ASSERT_OK(exchange.Finish(step, totals));
        EXPECT_TRUE(at::equal(totals, Totals(3)));
        for (size_t i = 0; i < parameters.size(); ++i) {
          const double wanted = (1 + 2 + 3) * static_cast<double>(i + 1);
          EXPECT_TRUE(at::equal(parameters[i].grad(), at::full_like(parameters[i], wanted)));
          parameters[i].mutable_grad().reset();
        }
      }
    });
  }
}

TEST(GradientExchange, ARankWithoutAPassHasNoShare) {
  AsRanks(3, [](Group& group) {
    const int64_t rank = group.membership().rank;
    std::vector<at::Tensor> parameters = Parameters();
    GradientExchange exchange(group, parameters, 1000);
    // Rank 1 does not even begin, rank 2 runs no pass.
    if (rank != 1) exchange.Begin(1);
    if (rank == 0) LossOf(parameters, rank, {0, 1, 2, 3, 4}).backward();
    STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
    for (size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(at::equal(parameters[i].grad(),
                            at::full_like(parameters[i], static_cast<double>(i + 1))));
    }
  });
}

TEST(GradientExchange, WhatNoRankUsesHasNoGradientAndWhatOneUsesHasIts) {
  AsRanks(2, [](Group& group) {
    const int64_t rank = group.membership().rank;
    std::vector<at::Tensor> parameters = Parameters();
    parameters[2].requires_grad_(false);  // frozen
    GradientExchange exchange(group, parameters, 1000);
    exchange.Begin(1);
    LossOf(parameters, rank, rank == 0 ? std::vector<size_t>{0, 3} : std::vector<size_t>{0, 4})
        .backward();
    STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
    EXPECT_TRUE(at::equal(parameters[0].grad(), at::full({3}, 3.0)));
    EXPECT_FALSE(parameters[1].grad().defined());
    EXPECT_FALSE(parameters[2].grad().defined());
    EXPECT_TRUE(at::equal(parameters[3].grad(), at::full({400}, 4.0)));
    EXPECT_TRUE(at::equal(parameters[4].grad(), at::full({1}, 10.0)));
  });
}

TEST(GradientExchange, EarlierPassesOfAStepCount) {
  AsRanks(2, [](Group& group) {
    std::vector<at::Tensor> parameters = Parameters();
    GradientExchange exchange(group, parameters, 1000);
    LossOf(parameters, 0, {0, 1}).backward();
    exchange.Begin(1);
    LossOf(parameters, 0, {1, 2}).backward();
    STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
    EXPECT_TRUE(at::equal(parameters[0].grad(), at::full({3}, 2.0)));
    EXPECT_TRUE(at::equal(parameters[1].grad(), at::full({200}, 8.0)));
    EXPECT_TRUE(at::equal(parameters[2].grad(), at::full({17}, 6.0)));
  });
}

TEST(GradientExchange, KeepsTheLayoutOfTheWeights) {
  AsRanks(2, [](Group& group) {
    at::Tensor weight =
        at::randn({4, 3, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_(true);
    const at::Tensor factor = at::arange(48, at::kFloat).view({4, 3, 2, 2});
    GradientExchange exchange(group, {weight}, 1000);
    exchange.Begin(1);
    (weight * factor).sum().backward();
    STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
    EXPECT_TRUE(at::equal(weight.grad(), factor * 2));
    EXPECT_EQ(weight.grad().strides(), weight.strides());
  });
}

}  // namespace stoker::gradient_exchange_test
