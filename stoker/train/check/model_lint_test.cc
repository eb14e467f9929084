#include "stoker/train/check/model_lint.h"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <algorithm>

#include "stoker/base/testing.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/feeder.h"
#include "stoker/run/testing.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/mlp.h"
#include "stoker/train/step/learner.h"

namespace stoker::model_lint_test {

namespace nn = torch::nn;

// Mistakes to be made, one at a time.
struct Mistakes {
  bool bias = false, linear_bias = false, softmax = false, unused = false, detached = false;
  int64_t width = 16;
};

class FlawedModel final : public Model {
 public:
  explicit FlawedModel(const Mistakes& mistakes)
      : mistakes_(mistakes),
        convolution_(nn::Conv2dOptions(1, mistakes.width, 3).padding(1).bias(mistakes.bias)),
        norm_(mistakes.width),
        hidden_(nn::LinearOptions(mistakes.width, 8).bias(mistakes.linear_bias)),
        norm2_(8),
        last_(8, 4) {
    register_module("conv", convolution_);
    register_module("norm", norm_);
    register_module("hidden", hidden_);
    register_module("norm2", norm2_);
    register_module("last", last_);
    if (mistakes.unused) register_module("forgotten", nn::Linear(8, 8));
  }
  at::Tensor Forward(const at::Tensor& input) override {
    at::Tensor x = norm_(convolution_(input)).relu_();
    if (mistakes_.detached) x = x.detach();
    x = last_(norm2_(hidden_(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1))));
    return mistakes_.softmax ? at::softmax(x, 1) : x;
  }

 private:
  const Mistakes mistakes_;
  nn::Conv2d convolution_;
  nn::BatchNorm2d norm_;
  nn::Linear hidden_;
  nn::BatchNorm1d norm2_;
  nn::Linear last_;
};

TensorBatch Batch(int64_t samples = 16) {
  torch::manual_seed(3);
  return {.input = torch::randn({samples, 1, 8, 8}),
          .target = torch::zeros({samples}, torch::kLong)};
}

std::vector<LintFinding> Lint(const Mistakes& mistakes, const TensorBatch& batch = Batch(),
                              bool accelerator = true) {
  FlawedModel model(mistakes);
  auto findings = LintModel(model, batch, accelerator);
  EXPECT_THAT(findings, IsOk());
  return *std::move(findings);
}

// One finding, of this rule, at this place, that says this.
void ExpectOne(const std::vector<LintFinding>& findings, const std::string& rule,
               const std::string& where, const std::string& says) {
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, rule);
  EXPECT_EQ(findings[0].where, where);
  EXPECT_THAT(findings[0].ToText(), testing::HasSubstr(says));
  EXPECT_FALSE(findings[0].advice.empty());
}

TEST(LintModel, FindsNothingInAModelWithoutMistakes) { EXPECT_TRUE(Lint({}).empty()); }

TEST(LintModel, FindsAConvolutionsBiasInFrontOfBatchNorm) {
  ExpectOne(Lint({.bias = true}), "conv_bias", "conv",
            "taken away again by the batch norm norm after it");
}

TEST(LintModel, FindsALinearLayersBiasInFrontOfBatchNorm) {
  ExpectOne(Lint({.linear_bias = true}), "conv_bias", "hidden", "batch norm norm2");
}

TEST(LintModel, FindsBatchNormOverOneSample) {
  ExpectOne(Lint({}, Batch(1)), "batch_of_one", "norm", "(and 1 more) over batches of one sample");
}

TEST(LintModel, FindsInputsThatAreNotNormalised) {
  TensorBatch batch = Batch();
  batch.input = batch.input.only() * 60 + 120;
  ExpectOne(Lint({}, batch), "inputs", "inputs", "normalize: {mean: 119, std: 60.2, field: image}");
  batch.input = torch::rand({16, 1, 8, 8});
  ExpectOne(Lint({}, batch), "inputs", "inputs", "their mean is 0.5");
  batch.input = torch::ones({16, 1, 8, 8});
  ExpectOne(Lint({}, batch), "inputs", "inputs", "all values are equal");
}

class ColumnsModel final : public Model {
 public:
  ColumnsModel() : linear_(3, 2) { register_module("linear", linear_); }
  at::Tensor Forward(const at::Tensor& input) override { return linear_(input); }

 private:
  nn::Linear linear_;
};

TEST(LintModel, ProposesAMeanAndADeviationForEachColumnAndNamesTheField) {
  const at::Tensor centred = torch::tensor({-1.0F, 1.0F, -1.0F, 1.0F}).unsqueeze(1);
  const TensorBatch batch = {.input = centred * torch::tensor({2.0F, 500.0F, 0.0F}) +
                                      torch::tensor({10.0F, 4000.0F, 7.0F}),
                             .target = torch::zeros({4}, torch::kLong)};
  ColumnsModel model;
  const auto findings =
      LintModel(model, batch, /*accelerator=*/false, {{.name = "", .field = "measures"}});
  ASSERT_THAT(findings, IsOk());
  // A column that never changes is not divided by its deviation of 0.
  ExpectOne(*findings, "inputs", "inputs",
            "normalize: {mean: [10, 4e+03, 7], std: [2, 500, 1], field: measures}");
}

TEST(LintModel, FindsASoftmaxInFrontOfTheLoss) {
  ExpectOne(Lint({.softmax = true}), "softmax", "scores", "ends with a softmax");
}

TEST(LintModel, FindsParametersThatTheLossDoesNotDependOn) {
  const std::vector<LintFinding> unused = Lint({.unused = true});
  ASSERT_EQ(unused.size(), 2u);
  EXPECT_EQ(unused[0].rule, "no_gradient");
  EXPECT_EQ(unused[0].where, "forgotten.weight");
  const std::vector<LintFinding> detached = Lint({.detached = true});
  ASSERT_EQ(detached.size(), 3u);
  EXPECT_EQ(detached[0].where, "conv.weight");
  EXPECT_EQ(detached[2].where, "norm.bias");
}

TEST(LintModel, FindsChannelsThatTensorCoresCannotUseAndHintsAtThemElsewhere) {
  const std::vector<LintFinding> findings = Lint({.width = 12});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "tensor_cores");
  EXPECT_EQ(findings[0].where, "conv");
  EXPECT_THAT(findings[0].advice, testing::HasSubstr("16 out"));
  EXPECT_EQ(findings[1].where, "hidden");
  EXPECT_FALSE(findings[0].hint);
  EXPECT_TRUE(Lint({.width = 12}, Batch(), /*accelerator=*/false)[0].hint);
}

class BuiltinModelLint : public testing::TestWithParam<std::string> {};

TEST_P(BuiltinModelLint, FindsNothing) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode node, ParseYaml(GetParam(), "model"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto configured, ModelRegistry::Known().Parse(node));
  const int64_t extent = GetParam().starts_with("inception") ? 75 : 32;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto model,
      BuildModel(configured, {.channels = 3, .height = extent, .width = extent}, 1, {}));
  const TensorBatch batch{.input = torch::randn({2, 3, extent, extent}),
                          .target = torch::zeros({2}, torch::kLong)};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto findings, LintModel(*model, batch, true));
  for (const LintFinding& finding : findings) ADD_FAILURE() << finding.ToText();
}

INSTANTIATE_TEST_SUITE_P(Models, BuiltinModelLint,
                         testing::Values("convnet", "linear", "mlp", "resnet18", "resnet50",
                                         "inception_v3: {aux_weight: 0}"));

TEST(LintRecipe, FindsAModelThatTellsMoreClassesApartThanTheDataHas) {
  SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load({"model.mlp.classes=10"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto found, LintRecipe(recipe));
  ExpectOne(found, "classes", "model.mlp.classes", "set it to 4");
  EXPECT_THAT(found[0].problem, testing::HasSubstr("10 classes apart, but the data has only 4"));
}

// Pictures of 1 and 0 in batches of 8.
Recipe OfPictures(const Shape& shape) {
  Array images = Array::Allocate(DType::kFloat32, shape);
  std::ranges::generate(images.values<float>(), [n = 0]() mutable { return ++n % 2 ? 1.f : -1.f; });
  const std::vector<int64_t> labels(static_cast<size_t>(shape[0]), 1);
  return {.data = {.root = {},
                   .train = *(FromArrays({{"image", images}, {"label", Array::Of(labels)}}) |
                              stoker::Batch{.size = 8}),
                   .eval = {},
                   .classes = {},
                   .filled = {}},
          .model = Configure(Mlp{.classes = 4, .hidden = {16}}),
          .train = {}};
}

TEST(LintRecipe, FindsPicturesWhoseChannelsSeemToStandLast) {
  for (const int64_t channels : {1, 3, 4}) {
    const auto findings = LintRecipe(OfPictures({16, 28, 24, channels}));
    STOKER_ASSERT_OK(findings);
    ExpectOne(*findings, "layout", "image",
              fmt::format("its samples of 28 x 24 x {0} are taken as 28 channels of 24 x {0} "
                          "pixels; where their channels stand last, put `layout: {{to: "
                          "channels_first, field: image}}`",
                          channels));
  }
}

TEST(LintRecipe, FindsNothingWherePicturesAreChannelsFirstOrSaidToBeLast) {
  for (const Shape& shape : std::vector<Shape>{{16, 3, 28, 28},
                                               {16, 1, 28, 28},
                                               {16, 4, 28, 3},
                                               {16, 16, 28, 28},
                                               {16, 8, 8, 2},
                                               {16, 8, 3, 3},
                                               {16, 28, 28},
                                               {16, 784}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto findings, LintRecipe(OfPictures(shape)));
    EXPECT_TRUE(findings.empty()) << ShapeToString(shape) << findings[0].ToText();
  }
  Recipe turned = OfPictures({16, 28, 28, 3});
  turned.data.train = *(turned.data.train | Layout{.to = "channels_first"});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto of_turned, LintRecipe(turned));
  EXPECT_TRUE(of_turned.empty());
  Recipe last = OfPictures({16, 3, 28, 28});
  last.data.train = *(last.data.train | Layout{.to = "channels_last"});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto of_last, LintRecipe(last));
  EXPECT_TRUE(of_last.empty());
}

TEST(LintRecipe, FindsGroupsThatLeaveEveryParameterWhereItIs) {
  const SmallProblem problem;
  const auto lint = [&](const std::string& groups) {
    return LintRecipe(*problem.Load({"train.groups=" + groups}));
  };
  const auto frozen = lint("[{match: '1.*', lr: 0}, {match: '*', lr: 0}]");
  STOKER_ASSERT_OK(frozen);
  ASSERT_EQ(frozen->size(), 1u);
  EXPECT_EQ((*frozen)[0].rule, "no_rate");
  EXPECT_THAT((*frozen)[0].ToText(), testing::HasSubstr("all 4 parameters have the learning rate"));
  const auto head = lint("[{match: '1.*', lr: 0}]");
  STOKER_ASSERT_OK(head);
  EXPECT_TRUE(head->empty());
}

TEST(LintRecipe, LooksAtTheFirstBatchAndLeavesTheRandomStateAlone) {
  SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load());
  torch::manual_seed(5);
  const at::Tensor expected = torch::rand({4});
  torch::manual_seed(5);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto findings, LintRecipe(recipe));
  EXPECT_TRUE(torch::equal(torch::rand({4}), expected));
  EXPECT_TRUE(findings.empty()) << findings.front().ToText();
  std::string text = kSmallRecipe;
  const std::string_view good = "mean: 0.5, std: 0.25";
  text.replace(text.find(good), good.size(), "mean: -10, std: 0.25");
  WriteFileForTest(problem / "raw.yaml", text);
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe raw, LoadRecipe(problem / "raw.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto found, LintRecipe(raw));
  ExpectOne(found, "inputs", "inputs", "normalize");
}

}  // namespace stoker::model_lint_test
