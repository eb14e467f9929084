#include "stoker/train/core/objective.h"

#include <torch/torch.h>

#include "stoker/base/testing.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/losses/mse.h"

namespace stoker::objective_test {

using testing::ElementsAre;
using testing::HasSubstr;

// A number in the first column, three classes in the others.
Objective NumberAndClasses(double weight = 1, const std::vector<double>& of_classes = {}) {
  return Objective(
      {{.field = "price", .loss = *Mse{}.Build(), .outputs = 1, .weight = weight},
       {.field = "taste", .loss = *CrossEntropy{.weights = of_classes}.Build(), .outputs = 3}});
}

Targets NumbersAndClasses(int64_t samples) {
  return Targets({torch::randn({samples}), torch::randint(3, {samples}, torch::kLong)});
}

TEST(Objective, OfSeveralTargetsIsTheWeightedSumOfTheirLosses) {
  torch::manual_seed(1);
  const Targets targets = NumbersAndClasses(8);
  const at::Tensor scores = torch::randn({8, 4}).requires_grad_();
  const at::Tensor mean = NumberAndClasses(.25).Mean(scores, targets);
  const at::Tensor number = (*Mse{}.Build())->Mean(scores.narrow(1, 0, 1), targets.all()[0]);
  const at::Tensor classes =
      (*CrossEntropy{}.Build())->Mean(scores.narrow(1, 1, 3), targets.all()[1]);
  EXPECT_TRUE(torch::allclose(mean, .25 * number + classes));
  const auto of_mean = torch::autograd::grad({mean}, {scores})[0];
  const auto of_sum = torch::autograd::grad({.25 * number + classes}, {scores})[0];
  EXPECT_TRUE(torch::allclose(of_mean, of_sum));
}

TEST(Objective, MeansOfBatchesCombineByTheirSamplesWhateverClassesWeigh) {
  torch::manual_seed(2);
  const Objective objective = NumberAndClasses(2, {1, 5, .5});
  const Targets targets = NumbersAndClasses(10);
  const at::Tensor scores = torch::randn({10, 4});
  EXPECT_EQ(objective.Weight(targets), 10);
  const at::Tensor first = objective.Mean(scores.narrow(0, 0, 3), targets.Rows(0, 3));
  const at::Tensor rest = objective.Mean(scores.narrow(0, 3, 7), targets.Rows(3, 7));
  EXPECT_TRUE(torch::allclose(objective.Mean(scores, targets), .3 * first + .7 * rest));
}

TEST(Objective, WeightsOfSamplesMultiplyTheLossesOfAllTargetsAndAreNoDivisor) {
  torch::manual_seed(3);
  const Objective plain = NumberAndClasses(2, {1, 5, .5});
  const Objective objective(plain.parts(), SampleWeights::kLosses);
  const Targets targets = NumbersAndClasses(6);
  const at::Tensor scores = torch::randn({6, 4}),
                   weights = torch::tensor({1.f, 0.f, 2.f, .5f, 1.f, 3.f});
  const auto weighted = [&](const at::Tensor& by) {
    return objective.Mean(scores, Targets({targets.all()[0], targets.all()[1], by}));
  };
  EXPECT_TRUE(torch::allclose(weighted(torch::ones({6})), plain.Mean(scores, targets)));
  EXPECT_TRUE(torch::allclose(weighted(2 * weights), 2 * weighted(weights)));
  at::Tensor sum = torch::zeros({});
  for (int64_t i = 0; i < 6; ++i)
    sum += weights[i] * plain.Mean(scores.narrow(0, i, 1), targets.Rows(i, 1));
  EXPECT_TRUE(torch::allclose(weighted(weights), sum / 6));
  EXPECT_EQ(objective.Weight(Targets({targets.all()[0], targets.all()[1], weights})), 6);
  EXPECT_THAT(
      CatchTorchErrors([&] { objective.Mean(scores, targets); }).message(),
      HasSubstr("an objective takes 3 tensors of targets and weights of samples, and was given 2"));
}

TEST(Objective, AWrongWeightIsNamedWithItsSample) {
  const Objective objective({{.field = {}, .loss = *Mse{}.Build()}}, SampleWeights::kLosses);
  const at::Tensor weights = torch::tensor({1.f, 0.f, -2.f});
  const TensorBatch batch{.input = torch::zeros({3, 1}),
                          .target = Targets({torch::zeros({3}), weights}),
                          .key = {.epoch = 0, .index = 5}};
  const Status checked = CheckTargets(objective, batch, 1, PlacesInBatch);
  EXPECT_THAT(checked, FailsWith(StatusCode::kOutOfRange, "sample 2 of batch 5"));
  EXPECT_THAT(checked.message(), HasSubstr("has the weight -2 (train.sample_weight)"));
  const auto checks = TargetChecksOf(objective, PlacesInBatch, std::nullopt);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1](weights, batch.key).message(), checked.message());
  STOKER_EXPECT_OK(checks[1](weights.abs(), batch.key));
}

// Its row of ones would be broadcast against the weights.
class LossOfRows final : public Loss {
 public:
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor&) const override {
    return scores.mean();
  }
  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor&) const override {
    return scores;
  }
};

TEST(Objective, ALossThatGivesRowsForSamplesIsRefused) {
  const Objective objective({{.field = {}, .loss = std::make_shared<LossOfRows>()}},
                            SampleWeights::kLosses);
  const Status status = CatchTorchErrors([&] {
    objective.Mean(torch::zeros({3, 1}), Targets({torch::zeros({3}), torch::ones({3})}));
  });
  EXPECT_THAT(status.message(), HasSubstr("its OfSamples must give one number a sample"));
}

TEST(Objective, NamesTheTargetsWhoseLossesAreNotFinite) {
  const Objective objective = NumberAndClasses();
  const Targets targets = NumbersAndClasses(4);
  at::Tensor scores = torch::randn({4, 4});
  EXPECT_THAT(objective.NotFiniteIn(scores, targets), ElementsAre());
  scores[2][0] = 1e30;  // its square is not finite
  EXPECT_THAT(objective.NotFiniteIn(scores, targets), ElementsAre("price"));
  scores[1][3] = NAN;
  EXPECT_THAT(objective.NotFiniteIn(scores, targets), ElementsAre("price", "taste"));
}

TEST(Objective, OfOneTargetIsItsLossWithAllOutputs) {
  const Objective objective(*CrossEntropy{}.Build());
  const at::Tensor scores = torch::randn({4, 3});
  const at::Tensor target = torch::tensor({0, 1, 2, 0});
  EXPECT_TRUE(torch::equal(objective.Mean(scores, target),
                           (*CrossEntropy{}.Build())->Mean(scores, target)));
  EXPECT_FALSE(objective.of_several());
  EXPECT_TRUE(torch::equal(objective.ScoresOfParts(scores)[0], scores));
}

TEST(Objective, SaysWhatEachTargetMeansAndWhichIsWrong) {
  const Field price{.name = "price", .dtype = DType::kFloat32, .shape = {-1}};
  const Field taste{.name = "taste", .dtype = DType::kInt64, .shape = {-1}};
  const Objective objective = NumberAndClasses();
  STOKER_ASSERT_OK_AND_ASSIGN(const auto kinds, objective.KindsOf(std::vector{price, taste}, 4));
  EXPECT_THAT(kinds, ElementsAre(TargetKind::kNumbers, TargetKind::kClass));
  EXPECT_EQ(FormOf(std::vector{price, taste}), "numbers,integers");
  EXPECT_THAT(objective.KindsOf(std::vector{price, price}, 4),
              FailsWith(StatusCode::kInvalidArgument, "target 'taste': "));
  EXPECT_THAT(objective.KindsOf(std::vector{price, taste}, 3),
              FailsWith(StatusCode::kInvalidArgument,
                        "take 4 outputs (1 for 'price' + 3 for 'taste'), and the model has 3; set "
                        "its `classes` to 4"));
}

TEST(Objective, AWrongTargetIsNamedWithItsSample) {
  const Objective objective = NumberAndClasses();
  TensorBatch batch{.input = torch::zeros({2, 1}),
                    .target = Targets({torch::tensor({1.0f, 2.0f}), torch::tensor({0, 3})}),
                    .key = {.epoch = 0, .index = 5}};
  Status checked = CheckTargets(objective, batch, 4, PlacesInBatch);
  EXPECT_THAT(checked, FailsWith(StatusCode::kDataLoss, "target 'taste': sample 1 of batch 5"));
  EXPECT_THAT(checked.message(), HasSubstr("class number 3"));
  batch.target.all()[0][1] = NAN;
  EXPECT_THAT(CheckTargets(objective, batch, 4, PlacesInBatch),
              FailsWith(StatusCode::kOutOfRange, "target 'price': sample 1 of batch 5"));
  const auto checks = TargetChecksOf(objective, PlacesInBatch, std::nullopt);
  ASSERT_EQ(checks.size(), 2u);
  STOKER_EXPECT_OK(checks[0](torch::tensor({1.0f}), batch.key));
  EXPECT_THAT(checks[1](torch::tensor({0, 3}), batch.key),
              FailsWith(StatusCode::kOutOfRange, "target 'taste': "));
}

TEST(Objective, ScoresOfAnotherWidthAreRefused) {
  const Status status = CatchTorchErrors([] {
    NumberAndClasses().Mean(torch::zeros({2, 5}), NumbersAndClasses(2));
  });
  EXPECT_THAT(status.message(), HasSubstr("and the model has 5"));
}

}  // namespace stoker::objective_test
