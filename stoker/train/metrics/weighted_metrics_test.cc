// Metrics where samples have weights (train.weighted_metrics): a sample of weight n counts as n
// samples of weight 1.
#include <ATen/ops/randint.h>
#include <ATen/ops/softmax.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/evaluation/metric_set.h"
#include "stoker/train/metrics/auc.h"
#include "stoker/train/metrics/pr_auc.h"

namespace stoker::weighted_metrics_test {

constexpr int64_t kSamples = 60, kOutputs = 4;

struct Case {
  TargetKind kind;
  std::vector<std::string> metrics;
};
void PrintTo(const Case& of, std::ostream* out) { *out << static_cast<int>(of.kind); }

// A batch, of which row i may stand there several times.
struct Batch {
  at::Tensor scores, target, weights;

  Batch Rows(const at::Tensor& rows) const {
    return {scores.index_select(0, rows), target.index_select(0, rows),
            weights.defined() ? weights.index_select(0, rows) : at::Tensor()};
  }
};

Batch RandomBatch(TargetKind kind) {
  torch::manual_seed(3);
  Batch batch{.scores = torch::randn({kSamples, kOutputs}), .target = {}, .weights = {}};
  switch (kind) {
    case TargetKind::kClass: batch.target = at::randint(kOutputs, {kSamples}, at::kLong); break;
    case TargetKind::kShares:
      batch.target = at::softmax(torch::randn({kSamples, kOutputs}), 1);
      break;
    case TargetKind::kLabels:
      batch.target = at::randint(2, {kSamples, kOutputs}, at::kLong).to(at::kFloat);
      break;
    case TargetKind::kNumbers: batch.target = torch::randn({kSamples, kOutputs}) + 1000; break;
  }
  return batch;
}

Status AddTo(MetricSet& metrics, TargetKind kind, const Batch& batch) {
  Answers answers;
  at::Tensor probabilities;
  if (kind == TargetKind::kLabels) {
    answers = {.right = batch.target.to(at::kLong), .said = batch.scores.gt(0).to(at::kLong)};
    probabilities = batch.scores.sigmoid();
  } else if (kind != TargetKind::kNumbers) {
    const at::Tensor right = kind == TargetKind::kClass ? batch.target : batch.target.argmax(1);
    answers = {.right = right, .said = batch.scores.argmax(1)};
    probabilities = at::softmax(batch.scores, 1);
  }
  return metrics.Add({.scores = batch.scores,
                      .target = batch.target,
                      .answers = answers,
                      .probabilities = probabilities,
                      .weights = batch.weights});
}

Json Measured(const Case& of, const Batch& all, int64_t batch_size) {
  std::vector<MetricRegistry::Configured> named;
  for (const std::string& name : of.metrics)
    named.push_back(*MetricRegistry::Known().Parse(ConfigNode::Scalar(name)));
  Result<MetricSet> metrics = MetricSet::Create(named, of.kind);
  EXPECT_THAT(metrics, IsOk());
  const int64_t samples = all.scores.size(0);
  for (int64_t begin = 0; begin < samples; begin += batch_size) {
    const at::Tensor rows = torch::arange(begin, std::min(begin + batch_size, samples));
    STOKER_EXPECT_OK(AddTo(*metrics, of.kind, all.Rows(rows)));
  }
  return *metrics->Values();
}

// Numbers may be whole in one and not in the other.
void ExpectAlike(const Json& a, const Json& b, const std::string& where) {
  if (a.is_number() && b.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-9 * (1 + std::abs(b.get<double>()))) << where;
    return;
  }
  ASSERT_EQ(a.type(), b.type()) << where;
  ASSERT_EQ(a.size(), b.size()) << where;
  if (a.is_array()) {
    for (size_t i = 0; i < a.size(); ++i) ExpectAlike(a[i], b[i], fmt::format("{}/{}", where, i));
  } else if (a.is_object()) {
    for (const auto& [key, value] : a.items()) ExpectAlike(value, b[key], where + "/" + key);
  }
}

class WeightedMetrics : public testing::TestWithParam<Case> {};

TEST_P(WeightedMetrics, CountASampleOfWeightNAsNSamples) {
  const Batch batch = RandomBatch(GetParam().kind);
  Batch weighted = batch;
  // The first ten weigh nothing, so that a whole batch does.
  weighted.weights = at::randint(4, {kSamples}, at::kDouble);
  weighted.weights.slice(0, 0, 10).zero_();
  const at::Tensor repeated =
      torch::arange(kSamples).repeat_interleave(weighted.weights.to(at::kLong));
  ExpectAlike(Measured(GetParam(), weighted, 10),
              Measured(GetParam(), batch.Rows(repeated), repeated.size(0)), "");
}

TEST_P(WeightedMetrics, AreThePlainOnesWhereAllWeighTheSame) {
  const Batch batch = RandomBatch(GetParam().kind);
  Json plain = Measured(GetParam(), batch, 7);
  for (const double weight : {1.0, 2.5}) {
    Batch weighted = batch;
    weighted.weights = torch::full({kSamples}, weight, at::kDouble);
    Json values = Measured(GetParam(), weighted, 7);
    // What is counted is a sum of weights.
    for (Json* const of : {&plain, &values}) {
      of->erase("confusion");
      if (of->contains("calibration_error_bins")) (*of)["calibration_error_bins"].erase("samples");
    }
    ExpectAlike(values, plain, "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    EachKind, WeightedMetrics,
    testing::Values(Case{TargetKind::kClass,
                         {"confusion", "precision", "recall", "f1", "top2", "auc", "pr_auc", "mse",
                          "mae", "rmse", "log_loss", "calibration_error"}},
                    Case{TargetKind::kShares, {"confusion", "f1", "top2", "mse", "log_loss"}},
                    Case{TargetKind::kLabels,
                         {"precision", "recall", "f1", "auc", "pr_auc", "mae", "log_loss",
                          "calibration_error"}},
                    Case{TargetKind::kNumbers, {"mse", "mae", "rmse", "r2"}}));

// By hand: positives weigh 2 and 1, negatives 3 and 1. A pair counts the product of its weights, 12
// in all; the positive of 2 is above both negatives, that of 1 above the negative of 1.
TEST(WeightedRanking, GoesBySumsOfWeights) {
  const std::vector<float> scores = {3, 1, 2, 0};
  const std::vector<bool> positive = {true, true, false, false};
  const std::vector<double> weights = {2, 1, 3, 1};
  EXPECT_NEAR(AreaUnderRoc(scores, positive, weights), (2.0 * 3 + 2 * 1 + 1 * 1) / 12, 1e-12);
  EXPECT_NEAR(AveragePrecision(scores, positive, weights), (2 * 1.0 + 1 * (3.0 / 6)) / 3, 1e-12);
  const std::vector<double> no_positive = {0, 0, 3, 1};
  EXPECT_TRUE(std::isnan(AreaUnderRoc(scores, positive, no_positive)));
  EXPECT_TRUE(std::isnan(AveragePrecision(scores, positive, no_positive)));
}

}  // namespace stoker::weighted_metrics_test
