#include "stoker/train/core/layers.h"

#include <ATen/Parallel.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"

namespace stoker::layers_test {

constexpr PlaceOfPass kPlace{.seed = 5, .step = 7, .part = 1, .first_row = 0};

PlaceOfPass From(int64_t row) {
  PlaceOfPass place = kPlace;
  place.first_row = row;
  return place;
}

at::Tensor FactorsOf(const PlaceOfPass& place, at::IntArrayRef sizes, double probability = 0.5) {
  TrainingPass pass(place);
  return Dropout(at::ones(sizes), probability, /*training=*/true);
}

TEST(Dropout, DrawsForARowTheSameInEveryPartAndWithAnyThreads) {
  const at::Tensor whole = FactorsOf(kPlace, {11, 3, 5});
  for (const auto& [begin, end] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 4}, {4, 11}, {10, 11}}) {
    EXPECT_TRUE(at::equal(FactorsOf(From(begin), {end - begin, 3, 5}), whole.slice(0, begin, end)));
  }
  EXPECT_EQ(FactorsOf(From(3), {0, 3, 5}).numel(), 0);
  const int threads = at::get_num_threads();
  at::set_num_threads(threads == 1 ? 2 : 1);
  EXPECT_TRUE(at::equal(FactorsOf(kPlace, {11, 3, 5}), whole));
  at::set_num_threads(threads);
}

TEST(Dropout, DropsTheShareAskedForAndKeepsTheMean) {
  for (const double probability : {0.01, 0.3, 0.99}) {
    const at::Tensor factors = FactorsOf(kPlace, {1000, 333}, probability);
    const double n = 333000;
    const double dropped = (factors == 0).sum().item<double>();
    // Six deviations of a binomial distribution.
    EXPECT_NEAR(dropped, n * probability, 6 * std::sqrt(n * probability * (1 - probability)));
    const at::Tensor kept = factors.masked_select(factors != 0);
    EXPECT_TRUE(at::equal(kept, at::full_like(kept, 1 / (1 - probability))));
  }
}

TEST(Dropout, DrawsAnewForEachSeedStepPartAndCall) {
  const at::Tensor first = FactorsOf(kPlace, {4, 64});
  std::vector<PlaceOfPass> others(3, kPlace);
  others[0].seed = 6;
  others[1].step = 8;
  others[2].part = 2;
  for (const PlaceOfPass& other : others) EXPECT_FALSE(at::equal(FactorsOf(other, {4, 64}), first));
  TrainingPass pass(kPlace);
  const at::Tensor x = at::ones({4, 64});
  EXPECT_TRUE(at::equal(Dropout(x, 0.5, true), first));
  EXPECT_FALSE(at::equal(Dropout(x, 0.5, true), first));
  const TrainingPass::Again again({});
  EXPECT_TRUE(at::equal(Dropout(x, 0.5, true), first));
}

TEST(Dropout, HasTheGradientOfItsFactorsAndKeepsTypeAndLayout) {
  TrainingPass pass(kPlace);
  const at::Tensor x = torch::randn({4, 6, 5, 3})
                           .to(at::kBFloat16)
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .set_requires_grad(true);
  const at::Tensor y = Dropout(x, 0.25, true);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(y.strides(), x.strides());
  y.sum().backward();
  EXPECT_TRUE(at::equal(x.grad() * x, y));
}

TEST(Dropout, OutsideOfAPassAndOfTrainingIsTorchs) {
  const at::Tensor x = torch::randn({8, 8});
  EXPECT_TRUE(at::equal(Dropout(x, 0.5, /*training=*/false), x));
  torch::manual_seed(1);
  const at::Tensor y = Dropout(x, 0.5, true);
  torch::manual_seed(1);
  EXPECT_TRUE(at::equal(y, at::dropout(x, 0.5, true)));
}

// Running moments and counts too.
TEST(BatchNorm, IsTorchsWhereNoRanksShareIt) {
  torch::nn::BatchNorm2d ours(5), torchs(5);
  const at::Tensor x = torch::randn({4, 5, 3, 3});
  for (const bool training : {true, false}) {
    ours->train(training);
    torchs->train(training);
    TrainingPass pass(kPlace);
    EXPECT_TRUE(at::equal(BatchNorm(*ours, x), torchs(x)));
  }
  EXPECT_TRUE(at::equal(ours->running_var, torchs->running_var));
  EXPECT_EQ(ours->num_batches_tracked.item<int64_t>(), 1);
}

TEST(BatchNorm, WithoutMomentumIsTheMeanOfAllBatches) {
  torch::nn::BatchNorm1d ours(torch::nn::BatchNormOptions(3).momentum(std::nullopt));
  torch::nn::BatchNorm1d torchs(torch::nn::BatchNormOptions(3).momentum(std::nullopt));
  for (int i = 0; i < 3; ++i) {
    const at::Tensor x = torch::randn({8, 3});
    torchs(x);
    EXPECT_NEAR(StateForPass(*ours).momentum, 1.0 / (i + 1), 1e-12);
  }
}

}  // namespace stoker::layers_test
