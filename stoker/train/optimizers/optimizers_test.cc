// p = [1, 2, 3], g = [.1, -.2, .3] * t for t = 1..3. AdamW: PyTorch 1.13 in float64. SGD, and AdamW
// with a momentum that changes: the formulas of the headers, evaluated in Python's float64.
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/named_tensor.h"
#include "stoker/train/optimizers/adamw.h"
#include "stoker/train/optimizers/sgd.h"

namespace stoker {
namespace {

at::Tensor Start(at::ScalarType type = at::kDouble) {
  return torch::tensor({1.0, 2.0, 3.0}, type).requires_grad_();
}

void SetGradient(at::Tensor& parameter, int t) {
  parameter.mutable_grad() =
      (torch::tensor({.1, -.2, .3}, torch::kDouble) * t).to(parameter.scalar_type());
}

template <typename Kind>
std::unique_ptr<Optimizer> Built(const Kind& kind, const NamedTensors& parameters) {
  auto built = kind.Build(parameters);
  EXPECT_THAT(built, IsOk());
  return *std::move(built);
}

// Three steps, at the momenta given, if any.
template <typename Kind>
at::Tensor AfterThreeSteps(const Kind& kind, double lr, std::vector<double> momenta = {},
                           at::ScalarType type = at::kDouble) {
  at::Tensor parameter = Start(type);
  const auto optimizer = Built(kind, {{"p", parameter}});
  for (int t = 1; t <= 3; ++t) {
    SetGradient(parameter, t);
    ScheduleValue now{.lr = lr, .momentum = {}};
    if (!momenta.empty()) now.momentum = momenta[static_cast<size_t>(t - 1)];
    optimizer->Step(now);
  }
  return parameter.detach();
}

void ExpectValues(const at::Tensor& got, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got[static_cast<int64_t>(i)].item<double>(), expected[i], 1e-6 * expected[i]);
  }
}

TEST(Adamw, GivesTheValuesOfPyTorch) {
  const std::vector<double> golden = {.970471164635, 2.02862892639, 2.96987122326};
  ExpectValues(AfterThreeSteps(Adamw{.weight_decay = 0.01}, 0.01), golden);
  ExpectValues(AfterThreeSteps(Adamw{.weight_decay = 0.01}, 0.01, {}, at::kFloat), golden);
}

TEST(Adamw, TakesItsFirstBetaFromTheScheduleWhereThatHasAMomentum) {
  ExpectValues(AfterThreeSteps(Adamw{.weight_decay = 0.01}, 0.01, {.95, .9, .85}),
               {.973654366969, 2.02544572397, 2.97305442571});
}

TEST(Sgd, WithoutMomentumFollowsTheGradient) {
  ExpectValues(AfterThreeSteps(Sgd{.momentum = 0}, 0.1), {.94, 2.12, 2.82});
}

TEST(Sgd, KeepsMomentum) {
  ExpectValues(AfterThreeSteps(Sgd{.momentum = 0.9}, 0.1), {.9049, 2.1902, 2.7147});
}

TEST(Sgd, TakesItsMomentumFromTheScheduleWhereThatHasOne) {
  ExpectValues(AfterThreeSteps(Sgd{.momentum = 0.1}, 0.1, {.9, .9, .9}), {.9049, 2.1902, 2.7147});
}

TEST(Sgd, LooksAheadWithNesterovAndDecaysWeights) {
  ExpectValues(AfterThreeSteps(Sgd{.momentum = 0.9, .nesterov = true, .weight_decay = 0.01}, 0.1),
               {.846550012551, 2.27475957946, 2.53965003765});
}

TEST(Sgd, DampensAllButTheFirstStep) {
  ExpectValues(AfterThreeSteps(Sgd{.momentum = 0.9, .dampening = 0.5}, 0.1),
               {.9389, 2.1222, 2.8167});
}

// Runs two steps, moves the state into a new optimizer, runs the third.
template <typename Kind>
at::Tensor InterruptedAfterTwoSteps(const Kind& kind) {
  at::Tensor parameter = Start();
  auto optimizer = Built(kind, {{"p", parameter}});
  for (int t = 1; t <= 3; ++t) {
    if (t == 3) {
      const auto saved = ToNamedArrays(optimizer->State());
      EXPECT_THAT(saved, IsOk());
      auto restored = Built(kind, {{"p", parameter}});
      EXPECT_THAT(CopyArraysInto(restored->State(), *saved, "", "here"), IsOk());
      optimizer = std::move(restored);
    }
    SetGradient(parameter, t);
    optimizer->Step({.lr = 0.1, .momentum = {}});
  }
  return parameter.detach();
}

TEST(Optimizers, AStateThatIsSavedAndRestoredGivesTheSameBytes) {
  EXPECT_TRUE(torch::equal(InterruptedAfterTwoSteps(Adamw{}), AfterThreeSteps(Adamw{}, 0.1)));
  const Sgd dampened{.momentum = 0.9, .dampening = 0.5};
  EXPECT_TRUE(torch::equal(InterruptedAfterTwoSteps(dampened), AfterThreeSteps(dampened, 0.1)));
}

template <typename Kind>
void ExpectAParameterWithoutGradientIsLeftAlone(const Kind& kind) {
  at::Tensor with = Start(), without = Start();
  const auto optimizer = Built(kind, {{"with", with}, {"without", without}});
  SetGradient(with, 1);
  optimizer->Step({.lr = 0.1, .momentum = {}});
  EXPECT_FALSE(torch::equal(with, Start()));
  EXPECT_TRUE(torch::equal(without, Start()));
}

TEST(Optimizers, AParameterWithoutGradientIsLeftAlone) {
  ExpectAParameterWithoutGradientIsLeftAlone(Adamw{});
  ExpectAParameterWithoutGradientIsLeftAlone(Sgd{});
  at::Tensor none = Start();
  Built(Adamw{}, {{"none", none}})->Step({.lr = 1, .momentum = {}});
  EXPECT_TRUE(torch::equal(none, Start()));
}

// The kernels walk over memory, so parameter, gradient and state must be laid out alike.
TEST(Optimizers, AChannelsLastWeightMovesLikeAContiguousOne) {
  const at::Tensor values = torch::arange(48, torch::kFloat).view({2, 3, 4, 2}) / 10;
  const at::Tensor gradient = values.flip(0) * 0.1;
  std::vector<at::Tensor> moved;
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    at::Tensor parameter = values.clone().contiguous(format).requires_grad_();
    const auto optimizer = Built(Adamw{}, {{"p", parameter}});
    parameter.mutable_grad() = gradient.contiguous(format);
    optimizer->Step({.lr = 0.1, .momentum = {}});
    moved.push_back(parameter.detach());
  }
  EXPECT_TRUE(torch::equal(moved[0], moved[1]));
  EXPECT_FALSE(torch::equal(moved[0], values));
}

TEST(Optimizers, OptionsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Adamw{.betas = {0.9}}.Build({}),
              FailsWith(StatusCode::kInvalidArgument, "must have two"));
  EXPECT_THAT((Sgd{.momentum = 0, .nesterov = true}.Build({})),
              FailsWith(StatusCode::kInvalidArgument, "nesterov needs a momentum"));
}

}  // namespace
}  // namespace stoker
