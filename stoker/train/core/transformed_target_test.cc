// Losses of transformed targets against the loss of targets that were transformed by hand.
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/train/core/objective.h"

namespace stoker::transformed_target_test {

using testing::HasSubstr;

const Field kNumber{.name = "price", .dtype = DType::kFloat32, .shape = {-1}};
const Field kInteger{.name = "price", .dtype = DType::kInt64, .shape = {-1}};
const Field kTwo{.name = "price", .dtype = DType::kFloat32, .shape = {-1, 2}};

Result<std::shared_ptr<const Loss>> Built(const std::string& loss, TargetOptions target = {}) {
  TrainRecipe train;
  STOKER_ASSIGN_OR_RETURN(const ConfigNode node, ParseYaml(loss, "loss"));
  STOKER_ASSIGN_OR_RETURN(train.loss, LossRegistry::Known().Parse(node));
  train.target = std::move(target);
  STOKER_ASSIGN_OR_RETURN(const Objective objective, BuildObjective(train));
  return objective.parts().front().loss;
}

at::Tensor Numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble);
}

TEST(TransformedTarget, TheLossIsThatOfTransformedTargets) {
  const at::Tensor scores = Numbers({.5, -1, 2}).unsqueeze(1), target = Numbers({100, 3, 7.5});
  for (const char* const name : {"mse", "mae", "{huber: {delta: 2}}", "{quantile: {at: 0.9}}"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto plain, Built(name));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto moved, Built(name, {.mean = {40}, .std = {8}}));
    EXPECT_TRUE(
        torch::allclose(moved->Mean(scores, target), plain->Mean(scores, (target - 40) / 8)))
        << name;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto log,
                                Built(name, {.log = true, .mean = {2}, .std = {.5}}));
    EXPECT_TRUE(
        torch::allclose(log->Mean(scores, target), plain->Mean(scores, (target.log() - 2) / .5)))
        << name;
  }
}

TEST(TransformedTarget, PredictionsAreInTheUnitsOfTheTarget) {
  const at::Tensor scores = Numbers({.5, -1}).unsqueeze(1);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto moved, Built("mse", {.mean = {40}, .std = {8}}));
  EXPECT_TRUE(torch::allclose(moved->InUnitsOfTarget(scores), Numbers({44, 32}).unsqueeze(1)));
  EXPECT_TRUE(torch::allclose(moved->Estimates(scores), Numbers({44, 32}).unsqueeze(1)));
  EXPECT_TRUE(torch::equal(moved->Predict(scores), torch::tensor({44, 32}, torch::kLong)));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto log, Built("mse", {.log = true}));
  EXPECT_TRUE(torch::allclose(log->InUnitsOfTarget(scores),
                              Numbers({std::exp(.5), std::exp(-1)}).unsqueeze(1)));
}

TEST(TransformedTarget, EveryNumberOfATargetHasItsOwnMean) {
  const TargetOptions two{.mean = {10, -1}, .std = {2, 4}};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto mse, Built("mse", two));
  const at::Tensor scores = torch::tensor({{1., .5}}, torch::kDouble);
  const at::Tensor target = torch::tensor({{12., 1.}}, torch::kDouble);
  EXPECT_TRUE(torch::allclose(mse->InUnitsOfTarget(scores), target));
  EXPECT_EQ(mse->Mean(scores, target).item<double>(), 0);
  // Two quantiles of each number, side by side.
  STOKER_ASSERT_OK_AND_ASSIGN(const auto quantile, Built("{quantile: {at: [0.5, 0.9]}}", two));
  const at::Tensor four = torch::tensor({{1., 2., .5, 1.}}, torch::kDouble);
  EXPECT_TRUE(torch::allclose(quantile->InUnitsOfTarget(four),
                              torch::tensor({{12., 14., 1., 3.}}, torch::kDouble)));
  EXPECT_TRUE(torch::allclose(quantile->Estimates(four), target));
  EXPECT_EQ(quantile->NumbersFor(4), 2);
}

TEST(TransformedTarget, IntegersAreNumbers) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto mse, Built("mse", {.mean = {40}, .std = {8}}));
  EXPECT_EQ(*mse->KindOf(kInteger, 1), TargetKind::kNumbers);
  EXPECT_FALSE(mse->Classes(1).has_value());
  const at::Tensor mean = mse->Mean(torch::zeros({2, 1}), torch::tensor({48, 32}, torch::kLong));
  EXPECT_FLOAT_EQ(mean.item<float>(), 1);
}

TEST(TransformedTarget, RefusesLossesThatDoNotTakeEveryNumber) {
  const TargetOptions moved{.mean = {40}, .std = {8}};
  const auto says = [&](const char* loss, const Field& field, int64_t outputs) {
    return std::string((*Built(loss, moved))->KindOf(field, outputs).status().message());
  };
  EXPECT_THAT(says("cross_entropy", kInteger, 3), HasSubstr("here targets are class numbers"));
  EXPECT_THAT(says("cross_entropy", kTwo, 2), HasSubstr("here targets are shares of classes"));
  EXPECT_THAT(says("focal", kInteger, 3), HasSubstr("take `loss: mse`"));
  EXPECT_THAT(says("bce", kInteger, 1), HasSubstr("here targets are class numbers"));
  EXPECT_THAT(says("bce", kNumber, 1), HasSubstr("here targets are labels"));
  EXPECT_THAT(says("mse", kInteger, 3), HasSubstr("here targets are class numbers"));
  EXPECT_THAT(says("poisson", kNumber, 1), HasSubstr("poisson takes counts"));
}

TEST(TransformedTarget, RefusesAnotherNumberOfNumbers) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto three,
                              Built("mse", {.mean = {1, 2, 3}, .std = {1, 1, 1}}));
  EXPECT_THAT(three->KindOf(kTwo, 2),
              FailsWith(StatusCode::kInvalidArgument, "has 3 means, and the target"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto one, Built("mse", {.mean = {1}, .std = {1}}));
  EXPECT_EQ(*one->KindOf(kTwo, 2), TargetKind::kNumbers);
}

TEST(TransformedTarget, OnlyLogarithmsObjectToNumbers) {
  const std::vector<float> zero = {0}, below = {2, -1}, above = {2, 1e-30f};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto log, Built("mse", {.log = true}));
  EXPECT_THAT(log->Objection(zero), HasSubstr("`log: true`"));
  EXPECT_THAT(log->Objection(below), HasSubstr("above 0"));
  EXPECT_EQ(log->Objection(above), "");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto moved, Built("mse", {.mean = {40}, .std = {8}}));
  EXPECT_EQ(moved->Objection(below), "");
}

TEST(TransformedTarget, WhatWasNotLearnedIsAnError) {
  EXPECT_THAT(Built("mse", {.learns = true}),
              FailsWith(StatusCode::kFailedPrecondition, "train.target is to be learned"));
}

}  // namespace stoker::transformed_target_test
