// Models over rows of features (data/core/feature_layout.h), held against the same computed with
// matrices over one-hot rows.
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/utils.h>

#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/convnet.h"
#include "stoker/train/models/linear.h"
#include "stoker/train/models/mlp.h"
#include "stoker/train/models/wide_and_deep.h"
#include "stoker/train/step/learner.h"

namespace stoker::feature_models_test {

using testing::UnorderedElementsAre;

// Two numbers, a grade of three without a vector, a city of four and a list of two of the same
// cities with vectors of two values, and a pair of which the deep part sees nothing.
FeatureLayout Homes() {
  return {{{.name = "size", .slots = 2},
           {.name = "grade", .categories = 3},
           {.name = "city", .categories = 4, .embedding = 2, .shared = "cities"},
           {.name = "near", .slots = 2, .categories = 4, .embedding = 2, .shared = "cities"},
           {.name = "pair", .categories = 5, .part = FeaturePart::kWide}}};
}

// Three samples; the second has no grade, and nothing is near the third.
at::Tensor Rows() {
  return at::tensor({0.5,  -1.0, 2.0,  3.0, 1.0,  2.0,  4.0,  //
                     1.5,  2.0,  -1.0, 0.0, 3.0,  -1.0, 0.0,  //
                     -2.0, 0.25, 0.0,  1.0, -1.0, -1.0, 2.0})
      .to(at::kFloat)
      .reshape({3, 7});
}

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind, FeatureLayout features) {
  auto model = BuildModel(Configure(kind), {.channels = 7, .features = std::move(features)},
                          /*seed=*/1, {});
  EXPECT_THAT(model, IsOk());
  return *std::move(model);
}

at::Tensor Parameter(const Model& model, const std::string& name) {
  for (const auto& [of, tensor] : ParametersOf(model)) {
    if (of == name) return tensor.detach();
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

std::vector<std::string> Names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : StateOf(model)) names.push_back(name);
  return names;
}

// One-hot rows of a slot; -1 is a row of zeros.
at::Tensor OneHot(int64_t slot, int64_t categories) {
  const at::Tensor with_none = at::cat({at::eye(categories), at::zeros({1, categories})});
  at::Tensor ids = Rows().select(1, slot).to(at::kLong);
  ids = ids.where(ids >= 0, at::tensor(categories));
  return with_none.index_select(0, ids);
}

// The cities near a sample, each counting its share.
at::Tensor Near() {
  const at::Tensor both = OneHot(4, 4) + OneHot(5, 4);
  return both / both.sum(1, true).clamp_min(1);
}

void FillWithNumbers(Model& model) {
  const torch::NoGradGuard no_grad;
  double value = 0.1;
  for (const auto& [name, tensor] : ParametersOf(model)) {
    at::Tensor flat = tensor.flatten();
    for (int64_t i = 0; i < flat.numel(); ++i) flat[i] = std::sin(value += 0.7);
    tensor.copy_(flat.reshape(tensor.sizes()));
  }
}

TEST(FeatureModels, LinearHasAWeightForEachNumberAndCategoryFromZeroOn) {
  const auto model = Built(Linear{.classes = 2}, Homes());
  EXPECT_THAT(Names(*model), UnorderedElementsAre("features.numbers", "features.categories.weight",
                                                  "features.bias"));
  EXPECT_EQ(model->Forward(Rows()).abs().sum().item<float>(), 0);
  FillWithNumbers(*model);
  const at::Tensor weights = Parameter(*model, "features.categories.weight");
  ASSERT_EQ(weights.sizes(), (std::vector<int64_t>{16, 2}));
  const at::Tensor expected =
      Rows().narrow(1, 0, 2).matmul(Parameter(*model, "features.numbers").t()) +
      at::cat({OneHot(2, 3), OneHot(3, 4), Near(), OneHot(6, 5)}, 1).matmul(weights) +
      Parameter(*model, "features.bias");
  EXPECT_TRUE(model->Forward(Rows()).allclose(expected, 1e-5, 1e-6));
}

TEST(FeatureModels, MlpSeesNumbersOneHotRowsAndVectors) {
  const auto model = Built(Mlp{.classes = 2, .hidden = {}}, Homes());
  EXPECT_THAT(Names(*model),
              UnorderedElementsAre("features.embeddings.cities.weight", "1.weight", "1.bias"));
  const at::Tensor cities = Parameter(*model, "features.embeddings.cities.weight");
  ASSERT_EQ(cities.sizes(), (std::vector<int64_t>{4, 2}));
  const at::Tensor seen = at::cat({Rows().narrow(1, 0, 2), OneHot(2, 3), OneHot(6, 5),
                                   OneHot(3, 4).matmul(cities), Near().matmul(cities)},
                                  1);
  const at::Tensor expected =
      seen.matmul(Parameter(*model, "1.weight").t()) + Parameter(*model, "1.bias");
  EXPECT_TRUE(model->Forward(Rows()).allclose(expected, 1e-5, 1e-6));
}

TEST(FeatureModels, WideAndDeepIsTheSumOfItsPartsOverTheirFeatures) {
  const auto model = Built(WideAndDeep{.classes = 2, .hidden = {3}}, Homes());
  EXPECT_THAT(Names(*model),
              UnorderedElementsAre("wide.numbers", "wide.categories.weight", "wide.bias",
                                   "deep.embeddings.cities.weight", "layers.0.weight",
                                   "layers.0.bias", "layers.1.weight", "layers.1.bias"));
  FillWithNumbers(*model);
  const at::Tensor cities = Parameter(*model, "deep.embeddings.cities.weight");
  const at::Tensor seen = at::cat(
      {Rows().narrow(1, 0, 2), OneHot(2, 3), OneHot(3, 4).matmul(cities), Near().matmul(cities)},
      1);
  const at::Tensor hidden =
      (seen.matmul(Parameter(*model, "layers.0.weight").t()) + Parameter(*model, "layers.0.bias"))
          .relu();
  const at::Tensor deep =
      hidden.matmul(Parameter(*model, "layers.1.weight").t()) + Parameter(*model, "layers.1.bias");
  const at::Tensor wide = Rows().narrow(1, 0, 2).matmul(Parameter(*model, "wide.numbers").t()) +
                          at::cat({OneHot(2, 3), OneHot(3, 4), Near(), OneHot(6, 5)}, 1)
                              .matmul(Parameter(*model, "wide.categories.weight")) +
                          Parameter(*model, "wide.bias");
  EXPECT_TRUE(model->Forward(Rows()).allclose(wide + deep, 1e-5, 1e-5));
}

TEST(FeatureModels, OnlyTheCategoriesOfABatchGetGradients) {
  const auto model = Built(Mlp{.classes = 1, .hidden = {4}}, Homes());
  model->Forward(Rows().narrow(0, 2, 1)).sum().backward();  // city 1, nothing near
  for (const auto& [name, tensor] : ParametersOf(*model)) {
    if (!name.ends_with("cities.weight")) continue;
    const at::Tensor touched = tensor.grad().abs().sum(1).gt(0).to(at::kLong);
    EXPECT_TRUE(touched.equal(at::tensor({0, 1, 0, 0}, at::kLong)));
  }
}

TEST(FeatureModels, NumbersOutOfRangeAreThoseOfTheLastCategory) {
  const auto model = Built(Mlp{.classes = 2}, Homes());
  at::Tensor beyond = Rows();
  beyond.select(1, 3).fill_(1e9);
  at::Tensor last = Rows();
  last.select(1, 3).fill_(3);
  EXPECT_TRUE(model->Forward(beyond).equal(model->Forward(last)));
}

// A layer over one list of categories.
std::shared_ptr<Model> LinearOverAList(int64_t slots, CombineVectors combine) {
  const FeatureLayout features{
      {{.name = "near", .slots = slots, .categories = 4, .combine = combine}}};
  auto model = *BuildModel(Configure(Linear{.classes = 1}),
                           {.channels = slots, .features = features}, 1, {});
  FillWithNumbers(*model);
  return model;
}

TEST(FeatureModels, AListMayBeASum) {
  const auto model = LinearOverAList(2, CombineVectors::kSum);
  const at::Tensor weights = Parameter(*model, "features.categories.weight");
  const at::Tensor scores = model->Forward(at::tensor({1.0f, 2.0f}).reshape({1, 2}));
  EXPECT_TRUE(scores.allclose(weights[1] + weights[2] + Parameter(*model, "features.bias")));
}

TEST(FeatureModels, AListMayBeASumOverTheRootOfHowManyThereAre) {
  const auto model = LinearOverAList(3, CombineVectors::kSqrtN);
  const at::Tensor weights = Parameter(*model, "features.categories.weight");
  const at::Tensor bias = Parameter(*model, "features.bias");
  const at::Tensor scores =
      model->Forward(at::tensor({1.0f, 2.0f, -1.0f, -1.0f, -1.0f, -1.0f}).reshape({2, 3}));
  EXPECT_TRUE(scores[0].allclose((weights[1] + weights[2]) / std::sqrt(2.0) + bias));
  EXPECT_TRUE(scores[1].allclose(bias));
}

TEST(FeatureModels, NumbersAloneAreTheInputOfAnyModel) {
  const FeatureLayout numbers{{{.name = "size", .slots = 7}}};
  EXPECT_THAT(Names(*Built(Mlp{.hidden = {}}, numbers)),
              UnorderedElementsAre("1.weight", "1.bias"));
  EXPECT_THAT(
      Names(*Built(WideAndDeep{.hidden = {}}, numbers)),
      UnorderedElementsAre("wide.numbers", "wide.bias", "layers.0.weight", "layers.0.bias"));
}

TEST(FeatureModels, AModelOfPicturesRefusesCategoriesAndWideAndDeepNeedsBothParts) {
  const ModelInput homes{.channels = 7, .features = Homes()};
  EXPECT_THAT(ModelRegistry::Known().Parse(ConfigNode::Scalar("convnet"))->build(homes),
              FailsWith(StatusCode::kInvalidArgument, "numbers of categories among them"));
  EXPECT_THAT(WideAndDeep{}.Build({.channels = 7}),
              FailsWith(StatusCode::kInvalidArgument, "data.features"));
  EXPECT_THAT(WideAndDeep{}.Build(
                  {.channels = 1,
                   .features = {{{.name = "pair", .categories = 5, .part = FeaturePart::kWide}}}}),
              FailsWith(StatusCode::kInvalidArgument, "no feature is for its deep part"));
}

}  // namespace stoker::feature_models_test
