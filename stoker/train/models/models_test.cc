#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/device/tensor.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/convnet.h"
#include "stoker/train/models/linear.h"
#include "stoker/train/models/mlp.h"
#include "stoker/train/step/learner.h"

namespace stoker::models_test {

constexpr ModelInput kFashion{.channels = 1, .height = 28, .width = 28};

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind, const ModelInput& input = kFashion,
                             const Placement& placement = {}) {
  auto model = BuildModel(Configure(kind), input, /*seed=*/1, placement);
  EXPECT_THAT(model, IsOk());
  return *std::move(model);
}

std::vector<std::string> Names(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : StateOf(model)) names.push_back(name);
  return names;
}

// The same network of torch's own parts, in the order of the peer script's nn.Sequential, with the
// same weights.
torch::nn::Sequential Reference(const Model& convnet) {
  namespace nn = torch::nn;
  nn::Sequential reference;
  int64_t in = 1;
  for (const int64_t out : {16, 32, 32}) {
    reference->push_back(nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false)));
    reference->push_back(nn::BatchNorm2d(out));
    reference->push_back(nn::ReLU());
    reference->push_back(nn::MaxPool2d(2));
    in = out;
  }
  reference->push_back(nn::Flatten());
  reference->push_back(nn::Linear(288, 10));
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : ParametersOf(convnet)) {
    reference->named_parameters()[name].copy_(tensor);
  }
  return reference;
}

TEST(Convnet, Has17018ParametersFor28x28Images) {
  EXPECT_EQ(CountParameters(*Built(Convnet{})), 17018);
}

TEST(Convnet, NamesItsTensorsLikeTheSequentialOfPyTorch) {
  EXPECT_THAT(Names(*Built(Convnet{.channels = {4}})),
              testing::UnorderedElementsAre("0.weight", "1.weight", "1.bias", "1.running_mean",
                                            "1.running_var", "1.num_batches_tracked", "5.weight",
                                            "5.bias"));
}

TEST(Convnet, GivesTheScoresAndGradientsOfTheSequentialOfPyTorch) {
  const auto model = Built(Convnet{});
  torch::nn::Sequential reference = Reference(*model);
  const at::Tensor input = torch::randn({8, 1, 28, 28});
  const at::Tensor got = model->Forward(input), expected = reference->forward(input);
  EXPECT_TRUE(torch::allclose(got, expected, 1e-5, 1e-6));
  got.square().sum().backward();
  expected.square().sum().backward();
  for (const auto& [name, tensor] : ParametersOf(*model)) {
    EXPECT_TRUE(
        torch::allclose(tensor.grad(), reference->named_parameters()[name].grad(), 1e-4, 1e-5))
        << name;
  }
}

TEST(Convnet, GivesTheSameScoresInChannelsLast) {
  const ModelInput input{.channels = 3, .height = 16, .width = 16};
  const auto contiguous = Built(Convnet{}, input);
  const auto channels_last =
      Built(Convnet{}, input, {.memory_format = MemoryFormat::kChannelsLast});
  EXPECT_TRUE(
      channels_last->named_parameters()["0.weight"].is_contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor images = torch::randn({4, 3, 16, 16});
  EXPECT_TRUE(torch::allclose(
      contiguous->Forward(images),
      channels_last->Forward(images.contiguous(at::MemoryFormat::ChannelsLast)), 1e-4, 1e-5));
}

// In channels-last the blocks are fused: everything that a step moves must be as in torch's parts.
TEST(Convnet, LearnsTheSameInChannelsLast) {
  const auto contiguous = Built(Convnet{});
  const auto fused = Built(Convnet{}, kFashion, {.memory_format = MemoryFormat::kChannelsLast});
  for (int step = 0; step < 3; ++step) {
    const at::Tensor images = torch::randn({8, 1, 28, 28});
    contiguous->Forward(images).square().sum().backward();
    fused->Forward(InLayout(images, at::MemoryFormat::ChannelsLast)).square().sum().backward();
  }
  for (const auto& [name, tensor] : ParametersOf(*contiguous)) {
    EXPECT_TRUE(torch::allclose(fused->named_parameters()[name].grad(), tensor.grad(), 1e-3, 1e-3))
        << name;
  }
  const auto buffers = fused->named_buffers();
  for (const auto& item : contiguous->named_buffers()) {
    EXPECT_TRUE(torch::allclose(buffers[item.key()].to(at::kDouble), item.value().to(at::kDouble),
                                1e-4, 1e-5))
        << item.key();
  }
  contiguous->eval();
  fused->eval();
  const at::Tensor images = torch::randn({8, 1, 28, 28});
  EXPECT_TRUE(torch::allclose(fused->Forward(InLayout(images, at::MemoryFormat::ChannelsLast)),
                              contiguous->Forward(images), 1e-3, 1e-4));
}

TEST(Convnet, RefusesImagesThatItsBlocksWouldHalveToNothing) {
  EXPECT_THAT(Convnet{}.Build({.channels = 1, .height = 7, .width = 28}),
              FailsWith(StatusCode::kInvalidArgument, "at least 8 x 8"));
}

TEST(Mlp, HasTheLayersItWasAskedFor) {
  const auto model = Built(Mlp{.classes = 3, .hidden = {5, 4}}, {.channels = 2});
  EXPECT_THAT(Names(*model), testing::ElementsAre("1.weight", "1.bias", "3.weight", "3.bias",
                                                  "5.weight", "5.bias"));
  EXPECT_EQ(model->Forward(torch::zeros({7, 2})).sizes().vec(), (std::vector<int64_t>{7, 3}));
}

TEST(Mlp, DropsValuesOnlyWhileItTrains) {
  const auto model = Built(Mlp{.hidden = {64}, .dropout = 0.5});
  EXPECT_THAT(Names(*model), testing::ElementsAre("1.weight", "1.bias", "4.weight", "4.bias"));
  const at::Tensor input = torch::randn({4, 1, 28, 28});
  EXPECT_FALSE(torch::equal(model->Forward(input), model->Forward(input)));
  model->eval();
  EXPECT_TRUE(torch::equal(model->Forward(input), model->Forward(input)));
}

TEST(Linear, IsOneLayerOverAllValues) {
  const auto model = Built(Linear{});
  EXPECT_EQ(CountParameters(*model), 28 * 28 * 10 + 10);
  EXPECT_EQ(model->Forward(torch::zeros({2, 1, 28, 28})).sizes().vec(),
            (std::vector<int64_t>{2, 10}));
}

TEST(Models, EqualSeedsGiveEqualWeightsAndOthersDoNot) {
  const auto built = [](uint64_t seed) {
    return (*BuildModel(Configure(Convnet{}), kFashion, seed, {}))->named_parameters();
  };
  const auto one = built(1), again = built(1), two = built(2);
  for (const auto& item : one) {
    EXPECT_TRUE(torch::equal(item.value(), again[item.key()])) << item.key();
  }
  EXPECT_FALSE(torch::equal(one["0.weight"], two["0.weight"]));
}

// torch.nn.Conv2d and Linear draw from U(-k, k), k = 1 / sqrt(values that feed one output).
TEST(Models, WeightsAreInitialisedWithinPyTorchsBounds) {
  const auto parameters = Built(Convnet{})->named_parameters();
  const auto expect_bound = [&](const char* name, double fan_in) {
    const double bound = 1 / std::sqrt(fan_in);
    const auto largest = parameters[name].abs().max().item<double>();
    EXPECT_LE(largest, bound) << name;
    EXPECT_GT(largest, 0.9 * bound) << name;
  };
  expect_bound("0.weight", 9);
  expect_bound("4.weight", 16 * 9);
  expect_bound("8.weight", 32 * 9);
  expect_bound("13.weight", 288);
  EXPECT_TRUE(torch::equal(parameters["1.weight"], torch::ones({16})));
}

TEST(ModelRegistry, ListsEveryModelWithItsOptions) {
  EXPECT_THAT(ModelRegistry::Known().Names(),
              testing::UnorderedElementsAre("convnet", "embedding_bag", "gru", "inception_v3",
                                            "joined", "linear", "lstm", "mlp", "resnet18",
                                            "resnet34", "resnet50", "wide_and_deep"));
}

TEST(ModelRegistry, OptionsSetInCodeAreCheckedWhenTheModelIsBuilt) {
  EXPECT_THAT(Configure(Linear{.classes = 0}).build(kFashion),
              FailsWith(StatusCode::kInvalidArgument, "classes"));
}

}  // namespace stoker::models_test
