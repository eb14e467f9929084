// p = [1, 2, 3], g = [.1, -.2, .3] * t for t = 1..3. Adam, AdamW, RMSprop and Adagrad: PyTorch in
// float64. LARS and LAMB: their papers' formulas in PyTorch's float64. SGD, Lion, Muon, and AdamW
// with a momentum that changes, and FTRL: the formulas of the headers, evaluated in Python's
// float64.
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/optimizers/adagrad.h"
#include "stoker/train/optimizers/adam.h"
#include "stoker/train/optimizers/adamw.h"
#include "stoker/train/optimizers/ftrl.h"
#include "stoker/train/optimizers/lamb.h"
#include "stoker/train/optimizers/lars.h"
#include "stoker/train/optimizers/lion.h"
#include "stoker/train/optimizers/muon.h"
#include "stoker/train/optimizers/optimizers_testing_internal.h"
#include "stoker/train/optimizers/rmsprop.h"
#include "stoker/train/optimizers/sgd.h"

namespace stoker::optimizers_test {

using optimizers_testing::AfterThreeSteps;
using optimizers_testing::Built;
using optimizers_testing::ExpectValues;
using optimizers_testing::SetGradient;
using optimizers_testing::Start;

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

TEST(Adam, GivesTheValuesOfPyTorch) {
  const std::vector<double> golden = {.970669806368, 2.02911725201, 2.97067045649};
  ExpectValues(AfterThreeSteps(Adam{.weight_decay = .01}, .01), golden);
  ExpectValues(AfterThreeSteps(Adam{.weight_decay = .01}, .01, {}, at::kFloat), golden);
}

TEST(Rmsprop, GivesTheValuesOfPyTorch) {
  const Rmsprop full{.alpha = .9, .momentum = .9, .weight_decay = .01};
  for (const auto type : {at::kDouble, at::kFloat}) {
    ExpectValues(AfterThreeSteps(Rmsprop{}, .01, {}, type),
                 {.730117415993, 2.26988266481, 2.73011730826});
    ExpectValues(AfterThreeSteps(full, .01, {}, type),
                 {.83483494779, 2.16661945399, 2.83481459443});
  }
}

TEST(Rmsprop, HasAMomentumOnlyWhereItsOwnOptionsSaySo) {
  EXPECT_TRUE(
      torch::equal(AfterThreeSteps(Rmsprop{}, .01, {.9, .9, .9}), AfterThreeSteps(Rmsprop{}, .01)));
  EXPECT_TRUE(torch::equal(AfterThreeSteps(Rmsprop{.momentum = .1}, .01, {.9, .9, .9}),
                           AfterThreeSteps(Rmsprop{.momentum = .9}, .01)));
}

TEST(Adagrad, GivesTheValuesOfPyTorch) {
  const Adagrad full{.lr_decay = .1, .weight_decay = .01};
  for (const auto type : {at::kDouble, at::kFloat}) {
    ExpectValues(AfterThreeSteps(Adagrad{}, .1, {}, type),
                 {.730378908488, 2.26962109159, 2.73037890838});
    ExpectValues(AfterThreeSteps(full, .1, {}, type),
                 {.753408330097, 2.24956399363, 2.75331864631});
  }
}

TEST(Ftrl, GivesTheValuesOfItsFormula) {
  const Ftrl full{.l1 = .5, .l2 = .2, .beta = 1, .initial = .01};
  for (const auto type : {at::kDouble, at::kFloat}) {
    ExpectValues(AfterThreeSteps(Ftrl{}, .1, {}, type),
                 {.856971844023, 2.200336817304, 2.773096933029});
    ExpectValues(AfterThreeSteps(full, .1, {}, type),
                 {.954261504417, 2.076944269819, 2.90029782262});
  }
}

// One step of a rate that sinks moves a weight by that rate and no more.
TEST(Ftrl, FollowsARateThatChangesAsAdagradDoes) {
  at::Tensor weights = Start(), of_adagrad = Start();
  const auto ftrl = Built(Ftrl{.initial = 1e-12}, {{"w", weights}});
  const auto adagrad = Built(Adagrad{}, {{"w", of_adagrad}});
  int t = 0;
  for (const double rate : {.001, .1, .05, 1e-6}) {
    ++t;
    for (at::Tensor* each : {&weights, &of_adagrad}) SetGradient(*each, t);
    ftrl->Step({.lr = rate, .momentum = {}});
    adagrad->Step({.lr = rate, .momentum = {}});
  }
  EXPECT_TRUE(torch::allclose(weights, of_adagrad, 1e-6, 0));
}

// A schedule ends at nearly no rate, and a weight must not follow it there.
TEST(Ftrl, StaysWhereItIsWithoutAGradientWhateverTheRate) {
  for (const auto type : {at::kDouble, at::kFloat}) {
    at::Tensor weights = Start(type);
    const auto optimizer = Built(Ftrl{.l1 = .1, .l2 = .1}, {{"w", weights}});
    SetGradient(weights, 1);
    optimizer->Step({.lr = .1, .momentum = {}});
    const at::Tensor after_one = weights.detach().clone();
    for (const double rate : {1e-6, .5, .01}) {
      weights.mutable_grad() = torch::zeros({3}, type);
      optimizer->Step({.lr = rate, .momentum = {}});
    }
    EXPECT_TRUE(torch::equal(weights, after_one));
  }
}

// Zero as long as its gradients add up to less than l1.
TEST(Ftrl, KeepsWeightsAtExactlyZeroAndStandsStillAtARateOfZero) {
  at::Tensor weight = torch::zeros({1}).requires_grad_();
  const auto optimizer = Built(Ftrl{.l1 = 1}, {{"w", weight}});
  for (const double rate : {.1, .1, 0., .1}) {
    weight.mutable_grad() = torch::full({1}, .4);
    EXPECT_EQ(weight.item<float>(), 0);
    optimizer->Step({.lr = rate, .momentum = {}});
  }
  EXPECT_LT(weight.item<float>(), 0);
}

TEST(Lars, GivesTheGoldenValues) {
  const std::vector<double> golden = {.99439205641, 2.01119993031, 2.98317616923};
  ExpectValues(AfterThreeSteps(Lars{}, 1), golden);
  ExpectValues(AfterThreeSteps(Lars{}, 1, {}, at::kFloat), golden);
}

TEST(Lamb, GivesTheGoldenValues) {
  const std::vector<double> golden = {.935195060373, 2.06282957838, 2.93387770455};
  ExpectValues(AfterThreeSteps(Lamb{}, .01), golden);
  ExpectValues(AfterThreeSteps(Lamb{}, .01, {}, at::kFloat), golden);
}

// The first gradient turns round at the second step.
at::Tensor LionAfterThreeSteps(at::ScalarType type) {
  at::Tensor parameter = Start(type);
  const auto optimizer = Built(Lion{}, {{"p", parameter}});
  for (int t = 1; t <= 3; ++t) {
    SetGradient(parameter, t);
    if (t == 2) parameter.mutable_grad()[0].mul_(-1);
    optimizer->Step({.lr = .01, .momentum = {}});
  }
  return parameter.detach();
}

TEST(Lion, GivesTheValuesOfItsFormula) {
  const std::vector<double> golden = {.987012989, 2.023976008, 2.961038987};
  ExpectValues(LionAfterThreeSteps(at::kDouble), golden);
  ExpectValues(LionAfterThreeSteps(at::kFloat), golden);
}

at::Tensor MuonAfterThreeSteps(const Muon& options, at::IntArrayRef shape) {
  at::Tensor parameter =
      (torch::arange(6, torch::kDouble) / 10 + .5).view(shape).clone().requires_grad_();
  const at::Tensor gradient = torch::tensor({.1, -.2, .3, .4, .1, -.5}, torch::kDouble).view(shape);
  const auto optimizer = Built(options, {{"p", parameter}});
  for (int t = 1; t <= 3; ++t) {
    parameter.mutable_grad() = gradient * t;
    optimizer->Step({.lr = .02, .momentum = {}});
  }
  return parameter.detach().flatten();
}

TEST(Muon, GivesTheValuesOfItsFormulaForWideAndForTallMatrices) {
  const Muon options{.weight_decay = .1, .scale = "original"};
  ExpectValues(MuonAfterThreeSteps(options, {2, 3}), {.45615509082, .630415642829, .663343141797,
                                                      .756950095602, .896969258983, 1.01931449876});
  ExpectValues(MuonAfterThreeSteps(options, {3, 2}), {.466221450427, .614581643796, .629596108615,
                                                      .771931371874, .855983841947, 1.03552691085});
}

TEST(Muon, TakesFiltersAsMatricesAndMovesVectorsAsAdamwDoes) {
  const Muon options{.scale = "original"};
  EXPECT_TRUE(torch::allclose(MuonAfterThreeSteps(options, {2, 3, 1, 1}),
                              MuonAfterThreeSteps(options, {2, 3})));
  EXPECT_TRUE(torch::equal(AfterThreeSteps(Muon{.weight_decay = .01}, .01),
                           AfterThreeSteps(Adamw{.weight_decay = .01}, .01)));
}

// ------------------------------------------------------------------ what all have in common

// Calls test(options) for every kind.
template <typename Test>
void ForEveryKind(const Test& test) {
  test(Sgd{.momentum = .9, .weight_decay = .01});
  test(Adam{.weight_decay = .01});
  test(Adamw{});
  test(Rmsprop{.momentum = .9, .weight_decay = .01});
  test(Adagrad{.weight_decay = .01});
  test(Ftrl{.l1 = .001, .l2 = .01});
  test(Lars{});
  test(Lamb{});
  test(Lion{});
  test(Muon{});
}

// Tensors below, at and above the size of a piece, after three steps.
template <typename Kind>
std::vector<at::Tensor> ManyAfterThreeSteps(const Kind& kind, at::ScalarType type) {
  torch::manual_seed(5);
  TrainedParameters parameters;
  for (const int64_t n : {1, 17, 2000, 131072, 300001}) {
    const at::Tensor values = torch::randn({n}, torch::kDouble).to(type);
    parameters.push_back({std::to_string(n), values.requires_grad_()});
  }
  parameters.push_back(
      {"w", torch::randn({20, 30}, torch::kDouble).to(type).requires_grad_(), .5, 2});
  const auto optimizer = Built(kind, parameters);
  for (int t = 1; t <= 3; ++t) {
    for (TrainedParameter& parameter : parameters) {
      parameter.tensor.mutable_grad() =
          torch::randn(parameter.tensor.sizes(), torch::kDouble).to(type);
    }
    optimizer->Step({.lr = .01, .momentum = {}});
  }
  std::vector<at::Tensor> moved;
  for (const TrainedParameter& parameter : parameters) moved.push_back(parameter.tensor.detach());
  return moved;
}

TEST(Optimizers, FloatsMoveAsDoublesDo) {
  ForEveryKind([](const auto& kind) {
    SCOPED_TRACE(kind.kName);
    const auto floats = ManyAfterThreeSteps(kind, at::kFloat);
    const auto doubles = ManyAfterThreeSteps(kind, at::kDouble);
    for (size_t i = 0; i < floats.size(); ++i) {
      EXPECT_TRUE(torch::allclose(floats[i].to(at::kDouble), doubles[i], 1e-4, 1e-5))
          << (floats[i] - doubles[i]).abs().max().template item<double>();
    }
  });
}

TEST(Optimizers, OurKernelsGiveTheSameBytesOnAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  const auto all = [] {
    std::vector<at::Tensor> moved;
    const auto add = [&](const auto& kind) {
      for (const at::Tensor& tensor : ManyAfterThreeSteps(kind, at::kFloat))
        moved.push_back(tensor);
    };
    add(Rmsprop{});
    add(Ftrl{});
    add(Lars{});
    add(Lamb{});
    add(Lion{});
    return moved;
  };
  at::set_num_threads(1);
  const std::vector<at::Tensor> one = all();
  for (const int count : {2, 3, 5}) {
    at::set_num_threads(count);
    const std::vector<at::Tensor> other = all();
    for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(torch::equal(one[i], other[i])) << count;
  }
  at::set_num_threads(threads);
}

// A parameter with half the rate and three times the decay moves as with such options.
TEST(Optimizers, EachParameterHasItsShareOfTheRateAndOfTheDecay) {
  ForEveryKind([](auto kind) {
    if constexpr (requires { kind.weight_decay; }) {
      SCOPED_TRACE(kind.kName);
      kind.weight_decay = .01;
      at::Tensor shared = Start(), alone = Start(), frozen = Start();
      const auto optimizer = Built(kind, {{"shared", shared, .5, 3}, {"frozen", frozen, 0, 1}});
      kind.weight_decay = .03;
      const auto expected = Built(kind, {{"alone", alone}});
      for (int t = 1; t <= 3; ++t) {
        for (at::Tensor* each : {&shared, &alone, &frozen}) SetGradient(*each, t);
        optimizer->Step({.lr = .1, .momentum = {}});
        expected->Step({.lr = .05, .momentum = {}});
      }
      EXPECT_TRUE(torch::allclose(shared, alone, 1e-12));
      EXPECT_TRUE(torch::equal(frozen, Start()));
    }
  });
}

TEST(Optimizers, LarsAndLambFitNoRateToAParameterWithoutDecay) {
  const auto without = [](const auto& kind, double lr) {
    at::Tensor parameter = Start();
    const auto optimizer = Built(kind, {{"p", parameter, 1, 0}});
    for (int t = 1; t <= 3; ++t) {
      SetGradient(parameter, t);
      optimizer->Step({.lr = lr, .momentum = {}});
    }
    return parameter.detach();
  };
  EXPECT_TRUE(torch::allclose(without(Lars{}, .1), AfterThreeSteps(Sgd{}, .1), 1e-12));
  EXPECT_TRUE(torch::allclose(without(Lamb{.eps = 1e-8}, .1),
                              AfterThreeSteps(Adamw{.weight_decay = 0}, .1), 1e-12));
}

TEST(Optimizers, AParameterThatIsZeroOrHasNoGradientValuesStaysFinite) {
  ForEveryKind([](const auto& kind) {
    SCOPED_TRACE(kind.kName);
    at::Tensor zero = torch::zeros({3, 4}).requires_grad_(), still = torch::ones({3, 4});
    still.requires_grad_();
    const auto optimizer = Built(kind, {{"zero", zero}, {"still", still}});
    for (int t = 0; t < 3; ++t) {
      zero.mutable_grad() = torch::ones({3, 4});
      still.mutable_grad() = torch::zeros({3, 4});
      optimizer->Step({.lr = .1, .momentum = {}});
    }
    EXPECT_TRUE(torch::isfinite(zero).all().template item<bool>());
    EXPECT_TRUE(torch::isfinite(still).all().template item<bool>());
    EXPECT_FALSE(torch::equal(zero, torch::zeros({3, 4})));
  });
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
  ForEveryKind([](const auto& kind) {
    SCOPED_TRACE(kind.kName);
    EXPECT_TRUE(torch::equal(InterruptedAfterTwoSteps(kind), AfterThreeSteps(kind, 0.1)));
  });
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
  ForEveryKind([](const auto& kind) { ExpectAParameterWithoutGradientIsLeftAlone(kind); });
  at::Tensor none = Start();
  Built(Adamw{}, {{"none", none}})->Step({.lr = 1, .momentum = {}});
  EXPECT_TRUE(torch::equal(none, Start()));
}

// The kernels walk over memory, so parameter, gradient and state must be laid out alike.
TEST(Optimizers, AWeightMovesTheSameWhateverItsLayoutAndThatOfItsGradient) {
  const at::Tensor values = torch::arange(48, torch::kFloat).view({2, 3, 4, 2}) / 10;
  const at::Tensor gradient = values.flip(0) * 0.1;
  const auto contiguous = at::MemoryFormat::Contiguous, last = at::MemoryFormat::ChannelsLast;
  ForEveryKind([&](const auto& kind) {
    SCOPED_TRACE(kind.kName);
    std::vector<at::Tensor> moved;
    for (const auto& [of_weight, of_gradient] :
         {std::pair{contiguous, contiguous}, {last, last}, {last, contiguous}}) {
      at::Tensor parameter = values.clone().contiguous(of_weight).requires_grad_();
      const auto optimizer = Built(kind, {{"p", parameter}});
      parameter.mutable_grad() = gradient.clone().contiguous(of_gradient);
      optimizer->Step({.lr = 0.1, .momentum = {}});
      moved.push_back(parameter.detach());
    }
    // Norms are sums in the order of memory.
    EXPECT_TRUE(torch::allclose(moved[0], moved[1], 1e-6));
    EXPECT_TRUE(torch::equal(moved[1], moved[2]));
    EXPECT_FALSE(torch::equal(moved[0], values));
  });
}

TEST(Optimizers, OptionsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Adamw{.betas = {0.9}}.Build({}),
              FailsWith(StatusCode::kInvalidArgument, "must have two"));
  EXPECT_THAT(Lion{.betas = {}}.Build({}),
              FailsWith(StatusCode::kInvalidArgument, "must have two"));
  EXPECT_THAT((Sgd{.momentum = 0, .nesterov = true}.Build({})),
              FailsWith(StatusCode::kInvalidArgument, "nesterov needs a momentum"));
}

}  // namespace stoker::optimizers_test
