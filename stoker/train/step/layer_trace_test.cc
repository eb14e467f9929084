#include "stoker/train/step/layer_trace.h"

#include <ATen/Context.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/model.h"

namespace stoker::layer_trace_test {

// Two layers with an operator of no layer between them, which may break values, and one that may
// break gradients alone.
struct TwoLayers : Model {
  explicit TwoLayers(int64_t middle = 3) {
    first = register_module("first", torch::nn::Linear(4, 3));
    norm = register_module("norm", torch::nn::BatchNorm1d(3));
    head = register_module("head", torch::nn::Linear(middle, 2));
  }
  at::Tensor Forward(const at::Tensor& input) override {
    at::Tensor x = norm(first(input));
    if (log) x = (x - x).log();
    if (root) x = (x - x).abs().sqrt();  // whose derivative at 0 is 0 times infinity
    return head(x);
  }
  torch::nn::Linear first{nullptr}, head{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  bool log = false, root = false;
};

TEST(LayerTrace, NamesTheLayerThatFailedAndItsShapes) {
  TwoLayers model(/*middle=*/5);
  const LayerTrace trace(model, LayerTrace::Values::kIgnored);
  EXPECT_FALSE(CatchTorchErrors([&] { model.Forward(torch::ones({2, 4})); }).ok());
  EXPECT_THAT(trace.LastOperator(), testing::HasSubstr("layer 'head' (aten::"));
  EXPECT_THAT(trace.LastOperator(), testing::HasSubstr("[2, 3]"));
}

TEST(LayerTrace, NamesTheLayerWhoseOutputFirstWasNotFinite) {
  TwoLayers model;
  {
    const at::NoGradGuard no_grad;
    model.first->weight[0][0] = NAN;
  }
  const LayerTrace trace(model, LayerTrace::Values::kChecked);
  model.Forward(torch::ones({2, 4}));
  EXPECT_THAT(trace.FirstBroken(), testing::HasSubstr("the output of layer 'first' (aten::"));
}

TEST(LayerTrace, WhatHasNoParametersBelongsToTheLayerBeforeIt) {
  TwoLayers model;
  model.log = true;
  const LayerTrace trace(model, LayerTrace::Values::kChecked);
  model.Forward(torch::randn({4, 4}));
  EXPECT_EQ(trace.FirstBroken(), "the output of layer 'norm' (aten::log)");
}

TEST(LayerTrace, NamesTheLayerWhoseGradientFirstWasNotFinite) {
  TwoLayers model;
  model.root = true;
  const LayerTrace trace(model, LayerTrace::Values::kChecked);
  model.Forward(torch::randn({4, 4})).sum().backward();
  EXPECT_THAT(trace.FirstBroken(), testing::HasSubstr("the gradient in layer 'norm' (aten::"));
}

TEST(LayerTrace, SaysNothingOfWhatIsSound) {
  TwoLayers model;
  const LayerTrace trace(model, LayerTrace::Values::kChecked);
  model.Forward(torch::randn({4, 4})).sum().backward();
  EXPECT_EQ(trace.FirstBroken(), "");
}

// New memory is filled with NaN while torch is told to be deterministic.
TEST(LayerTrace, SaysNothingOfMemoryThatHasNoValuesYet) {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  ASSERT_TRUE(context.deterministicFillUninitializedMemory());
  ASSERT_TRUE(torch::empty({2}).isnan().all().item<bool>());
  TwoLayers model;
  {
    const LayerTrace trace(model, LayerTrace::Values::kChecked);
    model.Forward(torch::randn({4, 4})).sum().backward();
    EXPECT_EQ(trace.FirstBroken(), "");
  }
  context.setDeterministicAlgorithms(false, /*warn_only=*/false);
}

TEST(LayerTrace, ChangesNoBit) {
  TwoLayers model;
  model.eval();
  const at::Tensor input = torch::randn({4, 4});
  const at::Tensor plain = model.Forward(input);
  const LayerTrace trace(model, LayerTrace::Values::kChecked);
  EXPECT_TRUE(torch::equal(model.Forward(input), plain));
}

TEST(RowsNotFinite, ListsThemUpToANumber) {
  at::Tensor values = torch::zeros({12, 2, 2});
  EXPECT_TRUE(RowsNotFinite(values).empty());
  values[3][1][0] = NAN;
  values[7][0][1] = INFINITY;
  EXPECT_THAT(RowsNotFinite(values), testing::ElementsAre(3, 7));
  values.fill_(NAN);
  EXPECT_EQ(RowsNotFinite(values).size(), 8u);
  EXPECT_EQ(RowsNotFinite(values, 99).size(), 12u);
  EXPECT_THAT(RowsNotFinite(torch::tensor({1.0f, -INFINITY})), testing::ElementsAre(1));
  EXPECT_TRUE(RowsNotFinite(torch::tensor(NAN)).empty());
}

TEST(SamplesNotFinite, AreThoseOfRaggedStepsOnceEach) {
  at::Tensor values = torch::zeros({6, 2});
  const at::Tensor places = torch::tensor({0, 0, 2, 2, 5, 6}, torch::kLong);
  EXPECT_TRUE(SamplesNotFinite(Inputs::WithOffsets(values, places)).empty());
  values[1][0] = NAN;
  values[2][1] = values[4][1] = INFINITY;
  EXPECT_THAT(SamplesNotFinite(Inputs::WithOffsets(values, places)), testing::ElementsAre(1, 3));
  EXPECT_THAT(SamplesNotFinite(Inputs::WithOffsets(values, places), 1), testing::ElementsAre(1));
  EXPECT_THAT(SamplesNotFinite(values), testing::ElementsAre(1, 2, 4));
}

}  // namespace stoker::layer_trace_test
