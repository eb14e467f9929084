#include "stoker/train/kernels/norm_relu_pool.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional/batchnorm.h>
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"

namespace stoker::norm_relu_pool_test {

struct Case {
  const char* name;
  int64_t images, channels, height, width;
  double offset = 0;  // of all values: variance is made of differences
};

std::string CaseName(const testing::TestParamInfo<Case>& info) { return info.param.name; }

at::Tensor ChannelsLast(const at::Tensor& x) {
  return x.contiguous(at::MemoryFormat::ChannelsLast);
}

NormState StateFor(int64_t channels, bool training) {
  const auto options = at::TensorOptions().dtype(at::kFloat);
  return {.weight = torch::randn({channels}, options).set_requires_grad(true),
          .bias = torch::randn({channels}, options).set_requires_grad(true),
          .running_mean = torch::randn({channels}, options),
          .running_var = torch::rand({channels}, options) + 0.5,
          .training = training};
}

// Of torch's own parts, in double precision.
struct Expected {
  at::Tensor y, x, weight, bias, running_mean, running_var;

  Expected(const at::Tensor& input, const NormState& state)
      : x(Copy(input, true)),
        weight(Copy(state.weight, true)),
        bias(Copy(state.bias, true)),
        running_mean(Copy(state.running_mean, false)),
        running_var(Copy(state.running_var, false)) {
    y = at::max_pool2d(at::batch_norm(x, weight, bias, running_mean, running_var, state.training,
                                      state.momentum, state.eps, /*cudnn_enabled=*/false)
                           .relu(),
                       2);
  }

  static at::Tensor Copy(const at::Tensor& tensor, bool with_gradient) {
    return tensor.detach().to(at::kDouble).clone().set_requires_grad(with_gradient);
  }
};

// Relative to the largest value: what float rounding leaves, times `factor`.
void ExpectClose(const at::Tensor& got, const at::Tensor& want, const char* what,
                 double factor = 1) {
  const double scale = std::max(1e-3, want.abs().max().item<double>());
  const double error = (got.to(at::kDouble) - want).abs().max().item<double>();
  EXPECT_LE(error, factor * 2e-6 * scale) << what;
}

class NormReluPoolAgainstTorch : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { torch::manual_seed(7); }

  static at::Tensor Input() {
    const Case& c = GetParam();
    return ChannelsLast(torch::randn({c.images, c.channels, c.height, c.width}) + c.offset);
  }
  // Rounding of x itself, seen against a spread of 1.
  static double Factor() { return std::max(1.0, GetParam().offset); }
};

TEST_P(NormReluPoolAgainstTorch, TrainingGivesItsValuesGradientsAndRunningStatistics) {
  NormState state = StateFor(GetParam().channels, /*training=*/true);
  const at::Tensor x = Input().set_requires_grad(true);
  const Expected expected(x, state);
  const at::Tensor y = NormReluPool(x, state);
  ExpectClose(y, expected.y, "values", Factor());
  ExpectClose(state.running_mean, expected.running_mean, "running mean");
  ExpectClose(state.running_var, expected.running_var, "running variance", Factor());

  const at::Tensor grad = torch::randn_like(y);
  y.backward(grad);
  expected.y.backward(grad.to(at::kDouble));
  ExpectClose(x.grad(), expected.x.grad(), "d x", 4 * Factor());
  ExpectClose(state.weight.grad(), expected.weight.grad(), "d weight", 4 * Factor());
  ExpectClose(state.bias.grad(), expected.bias.grad(), "d bias", 4 * Factor());
}

TEST_P(NormReluPoolAgainstTorch, EvaluationGivesItsValuesAndGradientsAndMovesNothing) {
  NormState state = StateFor(GetParam().channels, /*training=*/false);
  const at::Tensor mean = state.running_mean.clone(), var = state.running_var.clone();
  const at::Tensor x = Input().set_requires_grad(true);
  const Expected expected(x, state);
  const at::Tensor y = NormReluPool(x, state);
  ExpectClose(y, expected.y, "values", Factor());
  EXPECT_TRUE(torch::equal(state.running_mean, mean));
  EXPECT_TRUE(torch::equal(state.running_var, var));

  y.sum().backward();
  expected.y.sum().backward();
  ExpectClose(x.grad(), expected.x.grad(), "d x", Factor());
  ExpectClose(state.weight.grad(), expected.weight.grad(), "d weight", 4 * Factor());
  ExpectClose(state.bias.grad(), expected.bias.grad(), "d bias");
}

INSTANTIATE_TEST_SUITE_P(
    , NormReluPoolAgainstTorch,
    testing::Values(Case{"QuickStartFirst", 16, 16, 28, 28}, Case{"QuickStartLast", 16, 32, 7, 7},
                    Case{"OneChannel", 3, 1, 6, 4}, Case{"OddChannels", 4, 5, 5, 3},
                    Case{"OneImage", 1, 8, 2, 2}, Case{"FarFromZero", 8, 16, 9, 9, 1000}),
    CaseName);

TEST(NormReluPool, GivesTheSameBitsOnAnyNumberOfThreads) {
  torch::manual_seed(1);
  const at::Tensor input = ChannelsLast(torch::randn({37, 16, 14, 14}));
  const NormState fresh = StateFor(16, /*training=*/true);
  const int before = at::get_num_threads();
  std::vector<std::vector<at::Tensor>> results;
  for (const int threads : {1, 2, 3, 5}) {
    at::set_num_threads(threads);
    NormState state = fresh;
    state.weight = fresh.weight.detach().clone().set_requires_grad(true);
    state.running_mean = fresh.running_mean.clone();
    const at::Tensor x = input.clone().set_requires_grad(true);
    const at::Tensor y = NormReluPool(x, state);
    y.square().sum().backward();
    results.push_back({y, x.grad(), state.weight.grad(), state.running_mean});
  }
  at::set_num_threads(before);
  for (const std::vector<at::Tensor>& other : results) {
    for (size_t i = 0; i < other.size(); ++i) {
      EXPECT_TRUE(torch::equal(results[0][i], other[i])) << "result " << i;
    }
  }
}

TEST(NormReluPool, WithoutAGradientGivesTheSameBits) {
  torch::manual_seed(1);
  const at::Tensor x = ChannelsLast(torch::randn({4, 16, 6, 6}));
  const NormState state = StateFor(16, /*training=*/false);
  const at::Tensor with = NormReluPool(x, state);
  const at::NoGradGuard no_grad;
  const at::Tensor without = NormReluPool(x, state);
  EXPECT_TRUE(torch::equal(with, without));
  EXPECT_FALSE(without.requires_grad());
}

TEST(NormReluPool, LetsNaNThrough) {
  at::Tensor x = ChannelsLast(torch::randn({2, 16, 4, 4}));
  x[0][3][1][1] = std::nan("");
  const at::Tensor y = NormReluPool(x, StateFor(16, /*training=*/true));
  EXPECT_TRUE(y.select(1, 3).isnan().all().item<bool>());
  EXPECT_FALSE(y.select(1, 4).isnan().any().item<bool>());
}

TEST(NormReluPool, AnInfinityMakesItsChannelNaNAsInTorch) {
  at::Tensor x = ChannelsLast(torch::randn({2, 16, 4, 4}));
  x[1][3][2][1] = INFINITY;
  NormState state = StateFor(16, /*training=*/true);
  const Expected expected(x, state);
  const at::Tensor y = NormReluPool(x, state);
  EXPECT_TRUE(torch::equal(y.isnan(), expected.y.isnan()));
  EXPECT_TRUE(y.select(1, 3).isnan().any().item<bool>());
}

TEST(NormReluPool, ANaNAnywhereInAWindowIsItsLargestValue) {
  for (int64_t pixel = 0; pixel < 4; ++pixel) {
    at::Tensor x = ChannelsLast(torch::ones({1, 16, 2, 2}));
    x[0][5][pixel / 2][pixel % 2] = std::nan("");
    const at::Tensor y = NormReluPool(x, StateFor(16, /*training=*/false));
    EXPECT_TRUE(y[0][5].isnan().all().item<bool>()) << pixel;
    EXPECT_FALSE(y[0][4].isnan().any().item<bool>()) << pixel;
  }
}

TEST(NormReluPool, RefusesParametersOfAnotherNumberOfChannels) {
  const at::Tensor x = ChannelsLast(torch::randn({2, 16, 4, 4}));
  EXPECT_THROW(NormReluPool(x, StateFor(8, true)), c10::Error);
}

TEST(NormReluPool, TakesOnlyChannelsLastFloatsOfTheCpu) {
  const at::Tensor x = torch::randn({2, 16, 4, 4});
  EXPECT_TRUE(CanNormReluPool(ChannelsLast(x)));
  EXPECT_FALSE(CanNormReluPool(x));
  EXPECT_FALSE(CanNormReluPool(ChannelsLast(x.to(at::kDouble))));
  EXPECT_FALSE(CanNormReluPool(ChannelsLast(torch::randn({2, 16, 1, 4}))));
  EXPECT_FALSE(CanNormReluPool(torch::randn({2, 16})));
  EXPECT_THROW(NormReluPool(x, StateFor(16, true)), c10::Error);
  EXPECT_THROW(NormReluPool(ChannelsLast(torch::randn({0, 16, 4, 4})), StateFor(16, true)),
               c10::Error);
}

}  // namespace stoker::norm_relu_pool_test
