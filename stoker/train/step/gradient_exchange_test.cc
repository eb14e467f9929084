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

TEST(GradientExchange, SixteenBitsCarryWhatFitsThemExactly) {
  for (const at::ScalarType travel : {at::kBFloat16, at::kHalf}) {
    AsRanks(3, [travel](Group& group) {
      const int64_t rank = group.membership().rank;
      std::vector<at::Tensor> parameters = Parameters();
      GradientExchange exchange(group, parameters, 1000, travel);
      exchange.Begin(1, /*scale=*/64);
      LossOf(parameters, rank, {0, 1, 2, 4}).backward();
      STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
      for (const size_t i : {0, 1, 2, 4}) {
        EXPECT_EQ(parameters[i].grad().scalar_type(), at::kFloat);
        EXPECT_TRUE(at::equal(parameters[i].grad(),
                              at::full_like(parameters[i], 6.0 * static_cast<double>(i + 1))));
      }
      EXPECT_FALSE(parameters[3].grad().defined());
    });
  }
}

TEST(GradientExchange, SixteenBitsRoundWithinTheirPrecision) {
  for (const auto& [travel, precision] :
       {std::pair(at::kBFloat16, 0x1p-8), std::pair(at::kHalf, 0x1p-11)}) {
    AsRanks(3, [travel = travel, precision = precision](Group& group) {
      const double rank = static_cast<double>(group.membership().rank);
      at::Tensor weight = at::zeros({500}).requires_grad_(true);
      // From 1e-6 to 1, and positive, so that nothing cancels.
      const at::Tensor sizes = at::logspace(-6, 0, 500, 10, at::kDouble);
      GradientExchange exchange(group, {weight}, 1000, travel);
      exchange.Begin(1);
      (weight * (sizes * (1 + rank / 7)).to(at::kFloat)).sum().backward();
      STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
      const at::Tensor error =
          (weight.grad().to(at::kDouble) / (sizes * (3 + 3.0 / 7)) - 1).abs().max();
      // Of each rank's, and of the sums of two and of three.
      EXPECT_LE(error.item<double>(), 3 * precision);
      EXPECT_GT(error.item<double>(), 0);
    });
  }
}

TEST(GradientExchange, WhatIsTooLargeForFp16TravelsOnceMore) {
  for (const double large : {1e6, 3e-3}) {  // alone; only times the scale
    AsRanks(2, [large](Group& group) {
      std::vector<at::Tensor> parameters = Parameters();
      GradientExchange exchange(group, parameters, 1000, at::kHalf);
      exchange.Begin(1, /*scale=*/large > 1 ? 1 : 1e-6);
      ((parameters[3] * large).sum() + parameters[0].sum()).backward();
      STOKER_ASSERT_OK(exchange.Finish(1, Totals(0)));
      EXPECT_TRUE(at::allclose(parameters[3].grad(), at::full({400}, 2 * large)));
      EXPECT_TRUE(at::allclose(parameters[0].grad(), at::full({3}, 2.0)));
    });
  }
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
