// The losses of numbers against their closed forms, written with doubles and loops.
#include <torch/utils.h>

#include <cmath>
#include <functional>

#include "stoker/base/testing.h"
#include "stoker/device/feeder.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/losses/huber.h"
#include "stoker/train/losses/mae.h"
#include "stoker/train/losses/poisson.h"
#include "stoker/train/losses/quantile.h"

namespace stoker::number_losses_test {

const std::vector<double> kScores = {2, -1, .5, 0, -3, 1.25}, kTarget = {0, 2, .75, 0, 4, 1};

template <typename Kind>
std::shared_ptr<const Loss> Built(const Kind& kind) {
  auto built = kind.Build();
  EXPECT_THAT(built, IsOk());
  return *std::move(built);
}

at::Tensor Column(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble).unsqueeze(1);
}

double MeanOf(const Loss& loss) {
  return loss.Mean(Column(kScores), torch::tensor(kTarget, torch::kDouble)).item<double>();
}

double Plain(const std::function<double(double score, double target)>& error) {
  double sum = 0;
  for (size_t i = 0; i < kScores.size(); ++i) sum += error(kScores[i], kTarget[i]);
  return sum / static_cast<double>(kScores.size());
}

double Pinball(double quantile, double score, double target) {
  const double off = target - score;
  return off >= 0 ? quantile * off : (quantile - 1) * off;
}

TEST(NumberLosses, AreTheirClosedForms) {
  EXPECT_NEAR(MeanOf(*Built(Mae{})), Plain([](double s, double t) { return std::abs(s - t); }),
              1e-12);
  for (const double delta : {.5, 1.0, 10.0}) {
    EXPECT_NEAR(MeanOf(*Built(Huber{.delta = delta})), Plain([&](double s, double t) {
                  const double off = std::abs(s - t);
                  return off <= delta ? off * off / 2 : delta * (off - delta / 2);
                }),
                1e-12);
  }
  EXPECT_NEAR(MeanOf(*Built(Poisson{})),
              Plain([](double s, double t) { return std::exp(s) - t * s; }), 1e-12);
  EXPECT_NEAR(MeanOf(*Built(Quantile{.at = {.9}})),
              Plain([](double s, double t) { return Pinball(.9, s, t); }), 1e-12);
  EXPECT_NEAR(MeanOf(*Built(Quantile{})), MeanOf(*Built(Mae{})) / 2, 1e-12);
}

TEST(Quantile, HasAnOutputForEachQuantileOfEachNumber) {
  const auto loss = Built(Quantile{.at = {.1, .9}});
  const at::Tensor scores = torch::tensor({{1., 3., -2., 5.}}, torch::kDouble);  // of two numbers
  const at::Tensor target = torch::tensor({{2., 6.}}, torch::kDouble);
  const double wanted =
      (Pinball(.1, 1, 2) + Pinball(.9, 3, 2) + Pinball(.1, -2, 6) + Pinball(.9, 5, 6)) / 4;
  EXPECT_NEAR(loss->Mean(scores, target).item<double>(), wanted, 1e-12);
  EXPECT_EQ(loss->NumbersFor(4), 2);
}

TEST(Quantile, MetricsTakeTheOneNearestToTheMedian) {
  const at::Tensor scores = torch::tensor({{1., 2., 3.}, {4., 5., 6.}});
  const auto estimates = [&](const std::vector<double>& at) {
    return Built(Quantile{.at = at})->Estimates(scores);
  };
  EXPECT_TRUE(torch::equal(estimates({.1, .5, .9}), torch::tensor({{2.}, {5.}})));
  EXPECT_TRUE(torch::equal(estimates({.05, .2, .4}), torch::tensor({{3.}, {6.}})));
}

TEST(Quantile, WithoutAnyOrOutsideOfZeroToOneIsRefused) {
  EXPECT_THAT(Quantile{.at = {}}.Build(), FailsWith(StatusCode::kInvalidArgument, "no quantile"));
  for (const double wrong : std::vector<double>{0.0, 1.0, 1.5, -0.5, NAN}) {
    EXPECT_THAT(Quantile{.at = {wrong}}.Build(),
                FailsWith(StatusCode::kInvalidArgument, "is no quantile between 0 and 1"));
  }
}

TEST(Poisson, PredictsTheRateAndMeasuresByIt) {
  const auto loss = Built(Poisson{});
  const at::Tensor scores = torch::tensor({{0.}, {std::log(5.)}});
  const at::Tensor rates = torch::tensor({{1.}, {5.}});
  EXPECT_TRUE(torch::allclose(loss->InUnitsOfTarget(scores), rates));
  EXPECT_TRUE(torch::allclose(loss->Estimates(scores), rates));
}

TEST(Poisson, RefusesNegativeCountsAsFloatsAndAsIntegers) {
  const auto loss = Built(Poisson{});
  for (const auto type : {torch::kFloat, torch::kLong}) {
    const at::Tensor target = torch::tensor({3, 0, -1}).to(type);
    const SampleKey batch{.epoch = 2, .index = 4};
    const Status checked = CheckTarget(*loss, target, batch, 1, PlacesInBatch);
    EXPECT_THAT(checked, FailsWith(StatusCode::kOutOfRange, "sample 2 of batch 4 of epoch 3"));
    EXPECT_THAT(checked.message(), testing::HasSubstr("poisson takes counts, at least 0"));
    EXPECT_EQ(TargetCheckOf(loss, PlacesInBatch, 1)(target, batch).message(), checked.message());
  }
}

TEST(NumberLosses, TakeANumberForEachOutputAndAnIntegerAsANumber) {
  const std::shared_ptr<const Loss> losses[] = {Built(Mae{}), Built(Huber{}), Built(Poisson{}),
                                                Built(Quantile{})};
  for (const auto& loss : losses) {
    for (const Field& field : {Field{"y", DType::kFloat32, {-1}}, Field{"y", DType::kUInt8, {8}},
                               Field{"y", DType::kInt64, {-1, 1}}}) {
      const Result<TargetKind> kind = loss->KindOf(field, 1);
      ASSERT_THAT(kind, IsOk()) << field.ToString();
      EXPECT_EQ(*kind, TargetKind::kNumbers);
    }
    EXPECT_THAT(loss->KindOf({"y", DType::kFloat32, {-1, 3}}, 3), IsOk());
    EXPECT_THAT(loss->KindOf({"y", DType::kFloat32, {-1}}, 10),
                FailsWith(StatusCode::kInvalidArgument, "and the target y: float32[?] has 1"));
    EXPECT_EQ(loss->Classes(1), std::nullopt);
    EXPECT_FALSE(loss->Probabilities(torch::zeros({2, 1}), TargetKind::kNumbers).defined());
  }
  const auto three = Built(Quantile{.at = {.1, .5, .9}});
  EXPECT_THAT(three->KindOf({"y", DType::kFloat32, {-1}}, 3), IsOk());
  EXPECT_THAT(
      three->KindOf({"y", DType::kFloat32, {-1}}, 4),
      FailsWith(StatusCode::kInvalidArgument, "set the model's `classes` to a multiple of 3"));
}

}  // namespace stoker::number_losses_test
