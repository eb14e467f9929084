// Metrics of numbers and of probabilities, against their definitions.
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/train/evaluation/metric_set.h"
#include "stoker/train/metrics/calibration_error.h"
#include "stoker/train/metrics/pr_auc.h"

namespace stoker::number_metrics_test {

MetricSet SetOf(const std::vector<std::string>& names, TargetKind kind) {
  std::vector<MetricRegistry::Configured> metrics;
  for (const std::string& name : names) {
    auto parsed = MetricRegistry::Known().Parse(ConfigNode::Scalar(name));
    EXPECT_THAT(parsed, IsOk());
    metrics.push_back(*parsed);
  }
  Result<MetricSet> set = MetricSet::Create(metrics, kind);
  EXPECT_THAT(set, IsOk());
  return *std::move(set);
}

Json ValuesOf(const MetricSet& metrics) {
  const Result<Json> values = metrics.Values();
  EXPECT_THAT(values, IsOk());
  return values.ok() ? *values : Json();
}

// Of numbers, in batches of so many samples.
Json OfNumbers(const std::vector<std::string>& names, const at::Tensor& scores,
               const at::Tensor& target, int64_t batch) {
  MetricSet metrics = SetOf(names, TargetKind::kNumbers);
  for (int64_t begin = 0; begin < scores.size(0); begin += batch) {
    const at::Tensor part = scores.slice(0, begin, begin + batch);
    STOKER_EXPECT_OK(metrics.Add(
        {.scores = part, .target = target.slice(0, begin, begin + batch), .answers = {}}));
  }
  return ValuesOf(metrics);
}

TEST(NumberMetrics, RmseIsTheRootOfMseOverAllSamples) {
  const at::Tensor scores = torch::tensor({{5.}, {1.}, {0.}}), target = torch::tensor({3., 2., 7.});
  for (const int64_t batch : {1, 2, 3}) {
    EXPECT_NEAR(OfNumbers({"rmse"}, scores, target, batch)["rmse"].get<double>(),
                std::sqrt((4 + 1 + 49) / 3.0), 1e-6);
  }
}

TEST(NumberMetrics, IntegersAreNumbers) {
  const at::Tensor scores = torch::tensor({{5.}, {1.}}), target = torch::tensor({3L, 2L});
  EXPECT_NEAR(OfNumbers({"mae"}, scores, target, 2)["mae"].get<double>(), 1.5, 1e-6);
}

TEST(NumberMetrics, R2IsOneWhereAllIsRightZeroForTheMeanAndKeepsItsDigitsFarFromZero) {
  const at::Tensor target = torch::tensor({100001., 100002., 100004., 100005.});
  const auto r2 = [&](const at::Tensor& scores, int64_t batch) {
    return OfNumbers({"r2"}, scores.unsqueeze(1), target, batch)["r2"].get<double>();
  };
  for (const int64_t batch : {1, 3, 4}) {
    EXPECT_EQ(r2(target, batch), 1);
    EXPECT_NEAR(r2(torch::full({4}, 100003.), batch), 0, 1e-9);
    EXPECT_NEAR(r2(target + 1, batch), 1 - 4 / 10.0, 1e-9);
  }
}

TEST(NumberMetrics, R2OfRowsIsTheMeanOverTheNumbersThatVary) {
  const at::Tensor target = torch::tensor({{0., 7., 1.}, {2., 7., 3.}});
  const at::Tensor scores = torch::tensor({{0., 7., 2.}, {2., 7., 2.}});
  const Json values = OfNumbers({"r2"}, scores, target, 1);
  EXPECT_EQ(values["r2_of_numbers"].dump(), "[1.0,null,0.0]");
  EXPECT_EQ(values["r2"], .5);
  EXPECT_FALSE(
      OfNumbers({"r2"}, scores.slice(1, 0, 1), target.slice(1, 0, 1), 2).contains("r2_of_numbers"));
  EXPECT_TRUE(OfNumbers({"r2"}, scores.slice(1, 1, 2), target.slice(1, 1, 2), 2)["r2"].is_null());
}

// The definition, with one threshold after another.
double PlainAveragePrecision(const std::vector<float>& scores, const std::vector<bool>& positive) {
  std::vector<float> thresholds = scores;
  std::ranges::sort(thresholds, std::greater<>());
  thresholds.erase(std::ranges::unique(thresholds).begin(), thresholds.end());
  const auto all = static_cast<double>(std::ranges::count(positive, true));
  double sum = 0, recall_before = 0;
  for (const float threshold : thresholds) {
    double taken = 0, right = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] < threshold) continue;
      ++taken;
      right += positive[i] ? 1 : 0;
    }
    sum += (right / all - recall_before) * right / taken;
    recall_before = right / all;
  }
  return sum;
}

TEST(AveragePrecision, IsTheSumOverThresholdsOfPrecisionTimesGainedRecall) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, 0, 0, 0);
    std::vector<float> scores = {0};
    std::vector<bool> positive = {true};
    for (int i = 0; i < 60; ++i) {
      scores.push_back(static_cast<float>(rng.Below(12)));
      positive.push_back(rng.Below(3) == 0);
    }
    EXPECT_NEAR(AveragePrecision(scores, positive), PlainAveragePrecision(scores, positive), 1e-12)
        << seed;
  }
}

TEST(AveragePrecision, CannotBeSaidWhereNothingIsPositiveNorOfNans) {
  const std::vector<float> scores = {1, 2}, broken = {1, NAN};
  EXPECT_TRUE(std::isnan(AveragePrecision(scores, {false, false})));
  EXPECT_TRUE(std::isnan(AveragePrecision({}, {})));
  EXPECT_TRUE(std::isnan(AveragePrecision(broken, {true, false})));
  EXPECT_EQ(AveragePrecision(scores, {true, true}), 1);
}

// Of classes, by these probabilities.
Json OfClasses(const std::string& name, const at::Tensor& probabilities,
               const std::vector<int64_t>& right, int64_t batch) {
  MetricSet metrics = SetOf({name}, TargetKind::kClass);
  const at::Tensor target = torch::tensor(right);
  for (int64_t begin = 0; begin < target.size(0); begin += batch) {
    const at::Tensor part = probabilities.slice(0, begin, begin + batch);
    const at::Tensor wanted = target.slice(0, begin, begin + batch);
    STOKER_EXPECT_OK(metrics.Add({.scores = part,
                                  .target = wanted,
                                  .answers = {.right = wanted, .said = part.argmax(1)},
                                  .probabilities = part}));
  }
  return ValuesOf(metrics);
}

TEST(LogLoss, IsTheMeanLogarithmOfWhatIsRight) {
  const at::Tensor probabilities = torch::tensor({{.25, .75}, {.9, .1}, {1., 0.}});
  for (const int64_t batch : {1, 2, 3}) {
    const Json values = OfClasses("log_loss", probabilities, {1, 0, 0}, batch);
    EXPECT_NEAR(values["log_loss"].get<double>(), -(std::log(.75) + std::log(.9)) / 3, 1e-6);
  }
  // What was held to be impossible costs as much as 2^-23.
  EXPECT_NEAR(OfClasses("log_loss", torch::tensor({{1., 0.}}), {1}, 1)["log_loss"].get<double>(),
              23 * std::log(2), 1e-6);
}

TEST(LogLoss, OfSharesIsByTheirSharesAndOfLabelsTheMeanOverAll) {
  const at::Tensor probabilities = torch::tensor({{.25, .75}, {.5, .5}});
  const at::Tensor target = torch::tensor({{.5, .5}, {1., 0.}});
  MetricSet shares = SetOf({"log_loss"}, TargetKind::kShares);
  STOKER_EXPECT_OK(shares.Add({.scores = probabilities,
                               .target = target,
                               .answers = {.right = target.argmax(1), .said = target.argmax(1)},
                               .probabilities = probabilities}));
  EXPECT_NEAR(ValuesOf(shares)["log_loss"].get<double>(),
              -((std::log(.25) + std::log(.75)) / 2 + std::log(.5)) / 2, 1e-6);
  const at::Tensor holds = torch::tensor({{1L, 0L}, {0L, 1L}});
  MetricSet labels = SetOf({"log_loss"}, TargetKind::kLabels);
  STOKER_EXPECT_OK(labels.Add({.scores = probabilities,
                               .target = holds.to(torch::kFloat),
                               .answers = {.right = holds, .said = holds},
                               .probabilities = probabilities}));
  EXPECT_NEAR(ValuesOf(labels)["log_loss"].get<double>(),
              -(std::log(.25) + std::log(.25) + std::log(.5) + std::log(.5)) / 4, 1e-6);
}

TEST(LogLoss, SaysWhereTheLossGivesNoProbabilities) {
  MetricSet metrics = SetOf({"log_loss"}, TargetKind::kClass);
  const at::Tensor scores = torch::tensor({{1.}}), right = torch::tensor({1L});
  EXPECT_THAT(
      metrics.Add({.scores = scores, .target = right, .answers = {.right = right, .said = right}}),
      FailsWith(StatusCode::kInvalidArgument, "the loss gives no probabilities"));
}

TEST(CalibrationError, IsHowFarBinsLieFromHowOftenTheyAreRight) {
  // .75 twice, right once; .9 once and right; .5 belongs to the bin below .5.
  const at::Tensor probabilities = torch::tensor({{.25, .75}, {.75, .25}, {.9, .1}, {.5, .5}});
  for (const int64_t batch : {1, 3, 4}) {
    const Json values = OfClasses("calibration_error", probabilities, {1, 1, 0, 0}, batch);
    EXPECT_NEAR(values["calibration_error"].get<double>(), (2 * .25 + .1 + .5) / 4, 1e-6);
    EXPECT_EQ(values["calibration_error_bins"]["samples"].size(), 15u);
    EXPECT_EQ(values["calibration_error_bins"]["samples"][11], 2);  // 11/15 < .75 <= 12/15
    EXPECT_EQ(values["calibration_error_bins"]["right"][11], .5);
    EXPECT_TRUE(values["calibration_error_bins"]["right"][0].is_null());
  }
}

TEST(CalibrationError, OfLabelsComparesEachProbabilityWithHowOftenItHolds) {
  MetricSet metrics = SetOf({"calibration_error"}, TargetKind::kLabels);
  const at::Tensor holds = torch::tensor({{1L, 0L}, {0L, 0L}});
  const at::Tensor scores = torch::zeros({2, 2});
  STOKER_EXPECT_OK(metrics.Add({.scores = scores,
                                .target = holds.to(torch::kFloat),
                                .answers = {.right = holds, .said = holds},
                                .probabilities = torch::tensor({{.8, .1}, {.8, .1}})}));
  EXPECT_NEAR(ValuesOf(metrics)["calibration_error"].get<double>(), (2 * .3 + 2 * .1) / 4, 1e-6);
}

}  // namespace stoker::number_metrics_test
