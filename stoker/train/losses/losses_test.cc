// Each loss against its closed form, written with doubles and loops.
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/device/feeder.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/loss.h"
#include "stoker/train/losses/bce.h"
#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/losses/focal.h"
#include "stoker/train/losses/mse.h"

namespace stoker {
namespace {

using Scores = std::vector<std::vector<double>>;
const Scores kScores = {{2, -1, .5}, {0, 0, 0}, {-3, 1, 4}, {10, -10, 0}};
const std::vector<int64_t> kTarget = {0, 2, 1, 0};

at::Tensor TensorOf(const Scores& scores) {
  std::vector<at::Tensor> rows;
  for (const auto& row : scores) rows.push_back(torch::tensor(row, torch::kDouble));
  return torch::stack(rows);
}

template <typename Kind>
std::shared_ptr<const Loss> Built(const Kind& kind) {
  auto built = kind.Build();
  EXPECT_THAT(built, IsOk());
  return *std::move(built);
}

template <typename Kind>
double MeanOf(const Kind& kind) {
  return Built(kind)->Mean(TensorOf(kScores), torch::tensor(kTarget)).template item<double>();
}

std::vector<double> LogSoftmax(const std::vector<double>& scores) {
  double sum = 0;
  for (const double score : scores) sum += std::exp(score);
  std::vector<double> log;
  for (const double score : scores) log.push_back(score - std::log(sum));
  return log;
}

double OneHotAt(size_t sample, size_t k) {
  return static_cast<size_t>(kTarget[sample]) == k ? 1 : 0;
}

double PlainCrossEntropy(double smoothing, const std::vector<double>& weights) {
  double sum = 0, of_weights = 0;
  for (size_t i = 0; i < kScores.size(); ++i) {
    const std::vector<double> log = LogSoftmax(kScores[i]);
    for (size_t k = 0; k < log.size(); ++k) {
      const double wanted = (1 - smoothing) * OneHotAt(i, k) + smoothing / 3;
      sum -= weights[k] * wanted * log[k];
    }
    of_weights += weights[static_cast<size_t>(kTarget[i])];
  }
  return sum / of_weights;
}

TEST(CrossEntropy, IsItsClosedFormWithSmoothingAndWeights) {
  EXPECT_NEAR(MeanOf(CrossEntropy{}), PlainCrossEntropy(0, {1, 1, 1}), 1e-12);
  EXPECT_NEAR(MeanOf(CrossEntropy{.label_smoothing = .1}), PlainCrossEntropy(.1, {1, 1, 1}), 1e-12);
  EXPECT_NEAR(MeanOf(CrossEntropy{.weights = {1, 5, .5}}), PlainCrossEntropy(0, {1, 5, .5}), 1e-12);
  EXPECT_NEAR(MeanOf(CrossEntropy{.label_smoothing = .2, .weights = {1, 5, .5}}),
              PlainCrossEntropy(.2, {1, 5, .5}), 1e-12);
}

// The mean of batches, by what each says it was divided by, is that of all samples.
TEST(CrossEntropy, ItsWeightMakesTheMeansOfBatchesTheMeanOfAll) {
  for (const std::vector<double>& weights : {std::vector<double>{}, {1, 5, .5}}) {
    const auto loss = Built(CrossEntropy{.weights = weights});
    const at::Tensor scores = TensorOf(kScores), target = torch::tensor(kTarget);
    double sum = 0, weight = 0;
    for (const auto& [begin, end] : {std::pair{0, 1}, {1, 4}}) {
      const at::Tensor part = target.slice(0, begin, end);
      sum += loss->Mean(scores.slice(0, begin, end), part).item<double>() * loss->Weight(part);
      weight += loss->Weight(part);
    }
    EXPECT_NEAR(sum / weight, loss->Mean(scores, target).item<double>(), 1e-12);
  }
}

// torch 2.11: cross_entropy, binary_cross_entropy_with_logits and mse_loss of torch.nn.functional,
// with the same arguments, in double.
TEST(Loss, GivesTheValuesOfTorchsOwnFunctions) {
  EXPECT_NEAR(MeanOf(CrossEntropy{}), 1.0973561489952974, 1e-12);
  EXPECT_NEAR(MeanOf(CrossEntropy{.label_smoothing = .1}), 1.3931894823286308, 1e-12);
  EXPECT_NEAR(MeanOf(CrossEntropy{.weights = {1, 5, .5}}), 2.1383921187239623, 1e-12);
  EXPECT_NEAR(MeanOf(CrossEntropy{.label_smoothing = .2, .weights = {1, 5, .5}}),
              3.0598804494136385, 1e-12);
  EXPECT_NEAR(MeanOf(Bce{}), 0.713912097482441, 1e-12);
  EXPECT_NEAR(MeanOf(Bce{.label_smoothing = .1, .positive_weight = 3}), 1.0829024679065462, 1e-12);
  EXPECT_NEAR(MeanOf(Mse{}), 17.4375, 1e-12);
}

double PlainFocal(double gamma, const std::vector<double>& weights) {
  double sum = 0;
  for (size_t i = 0; i < kScores.size(); ++i) {
    const auto t = static_cast<size_t>(kTarget[i]);
    const double log = LogSoftmax(kScores[i])[t];
    sum -= weights[t] * std::pow(1 - std::exp(log), gamma) * log;
  }
  return sum / static_cast<double>(kScores.size());
}

TEST(Focal, IsItsClosedFormAndWithoutFocusCrossEntropy) {
  EXPECT_NEAR(MeanOf(Focal{}), PlainFocal(2, {1, 1, 1}), 1e-12);
  EXPECT_NEAR(MeanOf(Focal{.gamma = .5, .weights = {1, 5, .5}}), PlainFocal(.5, {1, 5, .5}), 1e-12);
  EXPECT_NEAR(MeanOf(Focal{.gamma = 0}), MeanOf(CrossEntropy{}), 1e-12);
}

TEST(Focal, HasAFiniteGradientWhereASampleIsWhollyRight) {
  const at::Tensor scores = torch::tensor({{200.0f, -200.0f}}).requires_grad_();
  Built(Focal{.gamma = .5})->Mean(scores, torch::tensor({int64_t{0}})).backward();
  EXPECT_TRUE(torch::isfinite(scores.grad()).all().item<bool>()) << scores.grad();
}

double PlainBce(double smoothing, double positive_weight) {
  double sum = 0;
  for (size_t i = 0; i < kScores.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double q = (1 - smoothing) * OneHotAt(i, k) + smoothing / 3;
      const double s = 1 / (1 + std::exp(-kScores[i][k]));
      sum -= positive_weight * q * std::log(s) + (1 - q) * std::log(1 - s);
    }
  }
  return sum / 12;
}

TEST(Bce, IsItsClosedForm) {
  EXPECT_NEAR(MeanOf(Bce{}), PlainBce(0, 1), 1e-9);
  EXPECT_NEAR(MeanOf(Bce{.label_smoothing = .1, .positive_weight = 3}), PlainBce(.1, 3), 1e-9);
}

TEST(Bce, OfOneScoreTellsTwoClassesApart) {
  const at::Tensor scores = torch::tensor({{2.0}, {-1.0}}), target = torch::tensor({1L, 0L});
  const auto loss = Built(Bce{});
  const double expected = (std::log1p(std::exp(-2.0)) + std::log1p(std::exp(-1.0))) / 2;
  EXPECT_NEAR(loss->Mean(scores, target).item<double>(), expected, 1e-6);
  EXPECT_TRUE(torch::equal(loss->Predict(scores), target));
}

TEST(Mse, IsAgainstOneAtTheClassOrAgainstTheNumberItself) {
  double sum = 0;
  for (size_t i = 0; i < kScores.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) sum += std::pow(kScores[i][k] - OneHotAt(i, k), 2);
  }
  EXPECT_NEAR(MeanOf(Mse{}), sum / 12, 1e-12);
  const at::Tensor scores = torch::tensor({{2.25}, {-1.0}}), target = torch::tensor({2L, 0L});
  const auto loss = Built(Mse{});
  EXPECT_NEAR(loss->Mean(scores, target).item<double>(), (.0625 + 1) / 2, 1e-6);
  EXPECT_TRUE(torch::equal(loss->Predict(scores), torch::tensor({2L, -1L})));
}

TEST(Loss, APredictionIsTheHighestScore) {
  EXPECT_TRUE(torch::equal(Built(CrossEntropy{})->Predict(TensorOf(kScores)),
                           torch::tensor({0L, 0L, 2L, 0L})));
}

TEST(Loss, ClassesThatDoNotExistAreRefused) {
  const at::Tensor scores = TensorOf(kScores);
  for (const int64_t wrong : {int64_t{3}, int64_t{-1}, int64_t{-100}}) {
    const at::Tensor target = torch::tensor({0L, 1L, wrong, 0L});
    const auto refuses = [&](const auto& kind) {
      const auto loss = Built(kind);
      EXPECT_FALSE(CatchTorchErrors([&] { loss->Mean(scores, target); }).ok()) << wrong;
    };
    refuses(CrossEntropy{});
    refuses(CrossEntropy{.label_smoothing = .1});
    refuses(Focal{});
    refuses(Bce{});
    refuses(Mse{});
    const TensorBatch batch{.input = {}, .target = target, .key = {.epoch = 0, .index = 5}};
    EXPECT_THAT(CheckTarget(batch, 3, PlacesInBatch),
                FailsWith(StatusCode::kDataLoss, "sample 2 of batch 5 of epoch 1"));
  }
}

TEST(Loss, AsManyWeightsAsClassesAreNeeded) {
  const auto loss = Built(CrossEntropy{.weights = {1, 2}});
  EXPECT_THAT(CatchTorchErrors([&] { loss->Mean(TensorOf(kScores), torch::tensor(kTarget)); }),
              FailsWith(StatusCode::kInvalidArgument, "2 class weights, but the model tells 3"));
}

}  // namespace
}  // namespace stoker
