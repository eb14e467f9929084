#include "stoker/train/kernels/ranked_norm.h"

#include <torch/nn/functional/batchnorm.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"

namespace stoker::ranked_norm_test {

// One rank that goes the way of several: through the sums.
class OneRank final : public NormRanks {
 public:
  ChannelMoments OfAll(const std::function<ChannelMoments()>& mine,
                       std::span<const float> origin) override {
    return MomentsOfSums(SumsOfMoments(mine(), origin), origin);
  }
  void Add(std::span<double>) override { ++added; }

  int added = 0;
};

NormState StateFor(int64_t channels, bool affine = true, bool tracked = true) {
  NormState state{
      .weight = {}, .bias = {}, .running_mean = {}, .running_var = {}, .training = true};
  if (affine) {
    state.weight = torch::randn({channels}).set_requires_grad(true);
    state.bias = torch::randn({channels}).set_requires_grad(true);
  }
  if (tracked) {
    state.running_mean = torch::randn({channels});
    state.running_var = torch::rand({channels}) + 0.5;
  }
  return state;
}

// The same in doubles, by torch.
struct Wanted {
  at::Tensor y, x, weight, bias, running_mean, running_var;

  Wanted(const at::Tensor& input, const NormState& state)
      : x(Copy(input, true)),
        weight(Copy(state.weight, true)),
        bias(Copy(state.bias, true)),
        running_mean(Copy(state.running_mean, false)),
        running_var(Copy(state.running_var, false)) {
    y = at::batch_norm(x, weight, bias, running_mean, running_var, /*training=*/true,
                       state.momentum, state.eps, /*cudnn_enabled=*/false);
  }
  static at::Tensor Copy(const at::Tensor& tensor, bool with_gradient) {
    if (!tensor.defined()) return tensor;
    return tensor.detach().to(at::kDouble).clone().set_requires_grad(with_gradient);
  }
};

void ExpectClose(const at::Tensor& got, const at::Tensor& want, double share, const char* what) {
  ASSERT_EQ(got.defined(), want.defined()) << what;
  if (!want.defined()) return;
  const double scale = std::max(1e-3, want.abs().max().item<double>());
  EXPECT_LE((got.to(at::kDouble) - want).abs().max().item<double>(), share * scale) << what;
}

// Compares values, gradients and running moments.
//   share  of the largest value that may be wrong
void ExpectLikeTorch(const at::Tensor& input, NormState state, double share) {
  const auto rank = c10::make_intrusive<OneRank>();
  state.ranks = rank;
  const at::Tensor x = input.detach().clone().set_requires_grad(true);
  const Wanted want(x, state);
  const at::Tensor y = RankedNorm(x, state);
  EXPECT_EQ(y.scalar_type(), x.scalar_type());
  ExpectClose(y, want.y, share, "values");
  ExpectClose(state.running_mean, want.running_mean, share, "running mean");
  ExpectClose(state.running_var, want.running_var, share, "running variance");

  const at::Tensor dy = torch::randn(y.sizes(), at::kDouble);
  y.backward(dy.to(y.scalar_type()));
  want.y.backward(dy);
  EXPECT_EQ(rank->added, 1);
  ExpectClose(x.grad(), want.x.grad(), share, "gradient of x");
  if (!state.weight.defined()) return;
  ExpectClose(state.weight.grad(), want.weight.grad(), share, "gradient of the weight");
  ExpectClose(state.bias.grad(), want.bias.grad(), share, "gradient of the bias");
}

TEST(RankedNorm, GivesTheValuesGradientsAndRunningMomentsOfTorch) {
  torch::manual_seed(3);
  const std::vector<std::vector<int64_t>> shapes = {
      {7, 5}, {4, 3, 9}, {6, 8, 5, 7}, {2, 3, 2, 3, 4}};
  for (const std::vector<int64_t>& shape : shapes) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(shape, " x ")));
    ExpectLikeTorch(torch::randn(shape) * 3 + 2, StateFor(shape[1]), 1e-5);
  }
  const at::Tensor images = torch::randn({6, 8, 5, 7}).contiguous(at::MemoryFormat::ChannelsLast);
  ExpectLikeTorch(images, StateFor(8), 1e-5);
  ExpectLikeTorch(images, StateFor(8, /*affine=*/false), 1e-5);
  ExpectLikeTorch(images, StateFor(8, /*affine=*/true, /*tracked=*/false), 1e-5);
}

TEST(RankedNorm, KeepsItsDigitsWhereTheMeanIsLarge) {
  torch::manual_seed(4);
  // A float of 1000 has 3.1e-5 as its last digit.
  ExpectLikeTorch(torch::randn({16, 4, 6, 6}) + 1000, StateFor(4), 1e-3);
}

TEST(RankedNorm, TakesValuesOfSixteenBits) {
  torch::manual_seed(5);
  ExpectLikeTorch(torch::randn({16, 4, 6, 6}).to(at::kBFloat16), StateFor(4), 2e-2);
}

TEST(RankedNorm, PartsAreTheMomentsOfTheWhole) {
  torch::manual_seed(6);
  // Means far from each other and from the origin, and one part without rows.
  const at::Tensor whole =
      (torch::randn({30, 4}, at::kDouble) + at::arange(30, at::kDouble).view({30, 1})) * 100 + 1e4;
  const std::vector<float> origin = {0, 1, -5, 1e4};
  std::vector<double> sums(9);
  for (const auto& [begin, end] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 1}, {1, 19}, {19, 30}}) {
    ChannelMoments part{.count = static_cast<double>(end - begin), .mean = {}, .var = {}};
    for (int64_t c = 0; c < 4 && begin < end; ++c) {
      const at::Tensor values = whole.slice(0, begin, end).select(1, c);
      part.mean.push_back(values.mean().item<double>());
      part.var.push_back(values.var(/*unbiased=*/false).item<double>());
    }
    const std::vector<double> of_part = SumsOfMoments(part, origin);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += of_part[i];
  }
  const ChannelMoments all = MomentsOfSums(sums, origin);
  EXPECT_EQ(all.count, 30);
  for (size_t c = 0; c < 4; ++c) {
    const at::Tensor values = whole.select(1, static_cast<int64_t>(c));
    EXPECT_NEAR(all.mean[c] / values.mean().item<double>(), 1, 1e-13);
    EXPECT_NEAR(all.var[c] / values.var(false).item<double>(), 1, 1e-10);
  }
}

TEST(RankedNorm, RefusesASingleValue) {
  NormState state = StateFor(3);
  state.ranks = c10::make_intrusive<OneRank>();
  EXPECT_THROW(RankedNorm(torch::randn({1, 3}), state), c10::Error);
}

}  // namespace stoker::ranked_norm_test
