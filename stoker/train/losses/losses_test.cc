// Each loss against its closed form, written with doubles and loops.
#include <torch/utils.h>

#include <cmath>
#include <iterator>
#include <optional>

#include "stoker/base/testing.h"
#include "stoker/device/feeder.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/losses/bce.h"
#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/losses/focal.h"
#include "stoker/train/losses/mse.h"

namespace stoker::losses_test {

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
    const SampleKey batch{.epoch = 0, .index = 5};
    EXPECT_THAT(CheckTarget(*Built(CrossEntropy{}), target, batch, 3, PlacesInBatch),
                FailsWith(StatusCode::kDataLoss, "sample 2 of batch 5 of epoch 1"));
  }
}

TEST(Bce, OfOneScoreKnowsNoThirdClass) {
  const at::Tensor scores = torch::tensor({{2.0}, {-1.0}}), target = torch::tensor({1L, 2L});
  const auto loss = Built(Bce{});
  EXPECT_FALSE(CatchTorchErrors([&] { loss->Mean(scores, target); }).ok());
  EXPECT_THAT(CheckTarget(*loss, target, {}, 1, PlacesInBatch),
              FailsWith(StatusCode::kDataLoss, "class number 2, but the model has one output"));
  STOKER_EXPECT_OK(CheckTarget(*Built(Mse{}), target, {}, 1, PlacesInBatch));
}

// --- Targets of floating-point numbers ---

const Scores kHolds = {{1, 0, 1}, {0, 0, 0}, {1, 1, .25}, {0, 1, 0}};

double PlainBceOfLabels(double smoothing) {
  double sum = 0;
  for (size_t i = 0; i < kScores.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const double q = (1 - smoothing) * kHolds[i][k] + smoothing / 2;
      const double s = 1 / (1 + std::exp(-kScores[i][k]));
      sum -= q * std::log(s) + (1 - q) * std::log(1 - s);
    }
  }
  return sum / 12;
}

TEST(Bce, OfSeveralLabelsIsItsClosedForm) {
  const auto mean = [](const Bce& bce) {
    return Built(bce)->Mean(TensorOf(kScores), TensorOf(kHolds)).item<double>();
  };
  EXPECT_NEAR(mean({}), PlainBceOfLabels(0), 1e-9);
  EXPECT_NEAR(mean({.label_smoothing = .1}), PlainBceOfLabels(.1), 1e-9);
  const at::Tensor scores = torch::tensor({{2.0}, {-1.0}});
  EXPECT_NEAR(Built(Bce{})->Mean(scores, torch::tensor({1.0, 0.0})).item<double>(),
              Built(Bce{})->Mean(scores, torch::tensor({1L, 0L})).item<double>(), 1e-12);
}

TEST(Mse, OfNumbersIsAgainstTheNumbers) {
  double sum = 0;
  for (size_t i = 0; i < kScores.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) sum += std::pow(kScores[i][k] - kHolds[i][k], 2);
  }
  const auto loss = Built(Mse{});
  EXPECT_NEAR(loss->Mean(TensorOf(kScores), TensorOf(kHolds)).item<double>(), sum / 12, 1e-12);
  const at::Tensor scores = torch::tensor({{2.25}, {-1.0}}), target = torch::tensor({1.5, -.5});
  EXPECT_NEAR(loss->Mean(scores, target).item<double>(), (.75 * .75 + .25) / 2, 1e-12);
}

// A mixed sample: between the means against each of its classes, as mixup wants it.
TEST(CrossEntropy, OfSharesIsTheMixtureOfThatOfClasses) {
  const at::Tensor scores = TensorOf(kScores), one = torch::tensor(kTarget);
  const at::Tensor other = torch::tensor({1L, 0L, 2L, 2L});
  const auto shares = [](const at::Tensor& classes) {
    return torch::zeros({4, 3}, torch::kDouble).scatter(1, classes.unsqueeze(1), 1.0);
  };
  for (const double smoothing : {0.0, .1}) {
    const auto loss = Built(CrossEntropy{.label_smoothing = smoothing});
    const double mixed = loss->Mean(scores, .75 * shares(one) + .25 * shares(other)).item<double>();
    EXPECT_NEAR(mixed,
                .75 * loss->Mean(scores, one).item<double>() +
                    .25 * loss->Mean(scores, other).item<double>(),
                1e-12);
  }
  const auto weighted = Built(CrossEntropy{.weights = {1, 5, .5}});
  EXPECT_EQ(weighted->Weight(shares(one)), 4);  // as its mean was divided
  EXPECT_NEAR(weighted->Mean(scores, shares(one)).item<double>() * 4,
              PlainCrossEntropy(0, {1, 5, .5}) * (1 + .5 + 5 + 1), 1e-12);
}

struct KindCase {
  Field target;
  int64_t outputs;
  // By cross_entropy, focal, bce and mse; nothing if it is refused.
  std::optional<TargetKind> kinds[4];
};
constexpr auto kNone = std::nullopt;
using enum TargetKind;
const KindCase kKinds[] = {
    {{"y", DType::kUInt8, {-1}}, 3, {kClass, kClass, kClass, kClass}},
    {{"y", DType::kInt64, {8}}, 1, {kClass, kClass, kClass, kClass}},
    {{"y", DType::kFloat32, {-1}}, 1, {kNone, kNone, kLabels, kNumbers}},
    {{"y", DType::kFloat64, {-1}}, 3, {kNone, kNone, kNone, kNone}},
    {{"y", DType::kFloat32, {-1, 3}}, 3, {kShares, kNone, kLabels, kNumbers}},
    {{"y", DType::kUInt8, {-1, 3}}, 3, {kShares, kNone, kLabels, kNumbers}},
    {{"y", DType::kFloat32, {-1, 4}}, 3, {kNone, kNone, kNone, kNone}},
    {{"y", DType::kInt64, {-1, 1}}, 1, {kNone, kNone, kLabels, kNumbers}},
};

TEST(Loss, SaysWhatTargetsMeanBesideTheOutputsAndRefusesAllOthers) {
  const std::shared_ptr<const Loss> losses[] = {Built(CrossEntropy{}), Built(Focal{}), Built(Bce{}),
                                                Built(Mse{})};
  for (const KindCase& each : kKinds) {
    for (size_t i = 0; i < std::size(losses); ++i) {
      SCOPED_TRACE(testing::Message()
                   << each.target.ToString() << ", " << each.outputs << " outputs, loss " << i);
      const Result<TargetKind> kind = losses[i]->KindOf(each.target, each.outputs);
      ASSERT_EQ(kind.ok(), each.kinds[i].has_value()) << kind.status().message();
      if (kind.ok()) {
        EXPECT_EQ(*kind, *each.kinds[i]);
      } else {
        EXPECT_THAT(kind, FailsWith(StatusCode::kInvalidArgument, each.target.ToString()));
      }
    }
  }
}

TEST(Loss, ARefusalSaysWhatToChange) {
  const Field numbers{"y", DType::kFloat32, {-1}};
  EXPECT_THAT(Built(CrossEntropy{})->KindOf(numbers, 3),
              FailsWith(StatusCode::kInvalidArgument,
                        "take `loss: mse` and one output; if they are class numbers put `cast: "
                        "{field: y, dtype: int64}` before `batch`"));
  EXPECT_THAT(Built(Mse{})->KindOf(numbers, 10),
              FailsWith(StatusCode::kInvalidArgument,
                        "y: float32[?] has 1 a sample, and the model 10 outputs; set the model's "
                        "`classes` to 1"));
  EXPECT_THAT(Built(Focal{})->KindOf({"y", DType::kFloat32, {-1, 3}}, 3),
              FailsWith(StatusCode::kInvalidArgument, "cross_entropy for shares of classes"));
}

struct WrongNumbers {
  std::vector<double> row;
  const char* says[3];  // by cross_entropy, bce and mse; null if nothing is wrong
};

TEST(Loss, NumbersThatATargetCannotHaveAreRefusedWithTheSample) {
  const char* const infinite = "a target must be finite";
  const WrongNumbers cases[] = {
      {{.25, .75, 0}, {nullptr, nullptr, nullptr}},
      {{1, 1, 0}, {"shares of classes, at least 0 and 1 in all", nullptr, nullptr}},
      {{1.5, -.5, 0}, {"at least 0 and 1 in all", "bce takes numbers from 0 to 1", nullptr}},
      {{7, 0, -3}, {"at least 0 and 1 in all", "bce takes numbers from 0 to 1", nullptr}},
      {{NAN, 0, 1}, {infinite, infinite, infinite}},
      {{0, 1, INFINITY}, {infinite, infinite, infinite}},
  };
  const std::shared_ptr<const Loss> losses[] = {Built(CrossEntropy{}), Built(Bce{}), Built(Mse{})};
  for (const auto& [row, says] : cases) {
    const at::Tensor target = TensorOf({{0, 1, 0}, row}).to(torch::kFloat);
    for (size_t i = 0; i < std::size(losses); ++i) {
      SCOPED_TRACE(testing::Message() << testing::PrintToString(row) << " loss " << i);
      const SampleKey batch{.epoch = 2, .index = 4};
      const Status checked = CheckTarget(*losses[i], target, batch, 3, PlacesInBatch);
      EXPECT_EQ(TargetCheckOf(losses[i], PlacesInBatch, 3)(target, batch).message(),
                checked.message());
      if (says[i] == nullptr) {
        STOKER_EXPECT_OK(checked);
      } else {
        EXPECT_THAT(checked, FailsWith(StatusCode::kOutOfRange, says[i]));
        EXPECT_THAT(checked.message(), testing::HasSubstr("sample 1 of batch 4 of epoch 3"));
      }
    }
  }
}

TEST(Loss, AClassThatTheModelLacksIsFoundBeforeItTravelsWhereTheOutputsAreKnown) {
  const at::Tensor target = torch::tensor({0, 2, 7}, torch::kInt32);
  const SampleKey batch{.epoch = 2, .index = 4};
  const std::shared_ptr<const Loss> loss = Built(CrossEntropy{});
  const Status checked = CheckTarget(*loss, target, batch, 3, PlacesInBatch);
  EXPECT_THAT(checked, FailsWith(StatusCode::kDataLoss, "sample 2 of batch 4 of epoch 3"));
  EXPECT_EQ(TargetCheckOf(loss, PlacesInBatch, 3)(target, batch).message(), checked.message());
  STOKER_EXPECT_OK(TargetCheckOf(loss, PlacesInBatch, 8)(target, batch));
  STOKER_EXPECT_OK(TargetCheckOf(loss, PlacesInBatch, std::nullopt)(target, batch));
  // One output of mse is any number.
  STOKER_EXPECT_OK(TargetCheckOf(Built(Mse{}), PlacesInBatch, 1)(target, batch));
}

TEST(Loss, SaysHowProbableWhatTargetsTellIs) {
  const at::Tensor scores = torch::tensor({{0.0, std::log(3.0)}, {0.0, 0.0}});
  const at::Tensor softmax = torch::tensor({{.25, .75}, {.5, .5}}, torch::kDouble);
  const at::Tensor sigmoid = torch::tensor({{.5, .75}, {.5, .5}}, torch::kDouble);
  const auto close = [](const at::Tensor& a, const at::Tensor& b) {
    return torch::allclose(a.to(torch::kDouble), b, 1e-6, 1e-6);
  };
  EXPECT_TRUE(close(Built(CrossEntropy{})->Probabilities(scores, kClass), softmax));
  EXPECT_TRUE(close(Built(CrossEntropy{})->Probabilities(scores, kShares), softmax));
  EXPECT_TRUE(close(Built(Bce{})->Probabilities(scores, kClass), softmax));
  EXPECT_TRUE(close(Built(Bce{})->Probabilities(scores, kLabels), sigmoid));
  const at::Tensor one = scores.slice(1, 1, 2);  // of class 1
  for (const TargetKind kind : {kClass, kLabels}) {
    EXPECT_TRUE(close(Built(Bce{})->Probabilities(one, kind), softmax));
  }
  EXPECT_FALSE(Built(Mse{})->Probabilities(scores, kNumbers).defined());
  EXPECT_FALSE(Built(Mse{})->Probabilities(one, kClass).defined());
  EXPECT_TRUE(close(Built(Mse{})->Probabilities(scores, kClass), softmax));
}

TEST(Loss, AsManyWeightsAsClassesAreNeeded) {
  const auto loss = Built(CrossEntropy{.weights = {1, 2}});
  EXPECT_THAT(CatchTorchErrors([&] { loss->Mean(TensorOf(kScores), torch::tensor(kTarget)); }),
              FailsWith(StatusCode::kInvalidArgument, "2 class weights, but the model tells 3"));
}

}  // namespace stoker::losses_test
