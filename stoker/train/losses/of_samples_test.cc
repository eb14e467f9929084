// Loss::OfSamples of every loss against its Mean and Weight, and against the way of losses without
// it.
#include <torch/csrc/autograd/autograd.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/transformed_target_internal.h"
#include "stoker/train/losses/bce.h"
#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/losses/focal.h"
#include "stoker/train/losses/huber.h"
#include "stoker/train/losses/mae.h"
#include "stoker/train/losses/mse.h"
#include "stoker/train/losses/poisson.h"
#include "stoker/train/losses/quantile.h"

namespace stoker::of_samples_test {

// A loss of one's own, which has no more than it must.
class MeanOnly final : public Loss {
 public:
  explicit MeanOnly(std::shared_ptr<const Loss> loss) : loss_(std::move(loss)) {}
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return loss_->Mean(scores, target);
  }
  double Weight(const at::Tensor& target) const override { return loss_->Weight(target); }

 private:
  const std::shared_ptr<const Loss> loss_;
};

struct Case {
  const char* name;
  std::shared_ptr<const Loss> loss;
  int64_t outputs;
  at::Tensor target;  // of four samples
};

template <typename Kind>
std::shared_ptr<const Loss> Built(const Kind& kind) {
  return *kind.Build();
}

std::vector<Case> Cases() {
  const at::Tensor classes = torch::tensor({0L, 2L, 1L, 0L}), two = torch::tensor({0L, 1L, 1L, 0L});
  const at::Tensor numbers = torch::tensor({{2., .5}, {-1., 3.}, {.25, 0.}, {1., -4.}});
  const at::Tensor one = torch::tensor({2., .5, 1.5, 3.});
  const at::Tensor shares =
      torch::tensor({{1., 0., 0.}, {.5, .25, .25}, {0., 0., 1.}, {.1, .9, 0.}});
  return {
      {"CrossEntropy", Built(CrossEntropy{}), 3, classes},
      {"CrossEntropyOfWeights", Built(CrossEntropy{.label_smoothing = .2, .weights = {1, 5, .5}}),
       3, classes},
      {"CrossEntropyOfShares", Built(CrossEntropy{.label_smoothing = .1, .weights = {1, 5, .5}}), 3,
       shares},
      {"Focal", Built(Focal{.gamma = 1.5, .weights = {1, 5, .5}}), 3, classes},
      {"BceOfClasses", Built(Bce{.label_smoothing = .1}), 3, classes},
      {"BceOfTwoClasses", Built(Bce{.positive_weight = 3}), 1, two},
      {"BceOfLabels", Built(Bce{.positive_weight = 3}), 3, shares},
      {"MseOfClasses", Built(Mse{}), 3, classes},
      {"MseOfNumbers", Built(Mse{}), 2, numbers},
      {"Mae", Built(Mae{}), 2, numbers},
      {"Huber", Built(Huber{.delta = .5}), 2, numbers},
      {"Poisson", Built(Poisson{}), 1, one},
      {"Quantile", Built(Quantile{.at = {.1, .5, .8}}), 6, numbers},
      {"Transformed", TransformTarget(Built(Mae{}), {.log = true, .mean = {.5}, .std = {2}}), 1,
       one},
  };
}

at::Tensor ScoresFor(const Case& each) {
  torch::manual_seed(3);
  return torch::randn({4, each.outputs}, torch::kDouble).requires_grad_();
}

// As training uses them.
at::Tensor Weighted(const at::Tensor& of_samples) {
  return (of_samples * torch::tensor({.5, 0., 2., 1.}, torch::kDouble)).sum();
}

at::Tensor GradientOf(const at::Tensor& loss, const at::Tensor& scores) {
  return torch::autograd::grad({loss}, {scores})[0];
}

TEST(LossOfSamples, AddsUpToTheMeanTimesTheWeightWithTheGradientOfIt) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    const at::Tensor scores = ScoresFor(each);
    const at::Tensor of_samples = each.loss->OfSamples(scores, each.target);
    ASSERT_EQ(of_samples.sizes(), at::IntArrayRef({4}));
    const at::Tensor whole = each.loss->Mean(scores, each.target) * each.loss->Weight(each.target);
    EXPECT_TRUE(torch::allclose(of_samples.sum(), whole, 1e-9, 1e-12)) << of_samples << whole;
    EXPECT_TRUE(torch::allclose(GradientOf(of_samples.sum(), scores), GradientOf(whole, scores),
                                1e-9, 1e-12));
  }
}

TEST(LossOfSamples, IsWhatALossWithoutItGivesByItsMeanOfEachSample) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.name);
    const at::Tensor scores = ScoresFor(each);
    const at::Tensor own = Weighted(each.loss->OfSamples(scores, each.target));
    const at::Tensor by_means = Weighted(MeanOnly(each.loss).OfSamples(scores, each.target));
    EXPECT_TRUE(torch::allclose(own, by_means, 1e-9, 1e-12)) << own << by_means;
    EXPECT_TRUE(
        torch::allclose(GradientOf(own, scores), GradientOf(by_means, scores), 1e-9, 1e-12));
  }
}

// Its mean would have no value.
TEST(LossOfSamples, OfAClassThatCountsNothingIsZeroWithoutItToo) {
  const MeanOnly loss(Built(CrossEntropy{.weights = {1, 5, 0}}));
  const at::Tensor scores = torch::zeros({2, 3}).requires_grad_();
  const at::Tensor of_samples = loss.OfSamples(scores, torch::tensor({2L, 0L}));
  EXPECT_EQ(of_samples[0].item<float>(), 0);
  EXPECT_NEAR(of_samples[1].item<float>(), std::log(3), 1e-6);
  EXPECT_TRUE(torch::isfinite(GradientOf(of_samples.sum(), scores)).all().item<bool>());
}

}  // namespace stoker::of_samples_test
