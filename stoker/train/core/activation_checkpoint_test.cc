#include "stoker/train/core/activation_checkpoint.h"

#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/run/testing.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/step/random_state.h"
#include "stoker/train/tune/memory_meter.h"

namespace stoker::activation_checkpoint_test {

using testing::HasSubstr;

struct Case {
  const char* name;
  const char* model;
  ModelInput input;
  Placement placement = {};
};

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }

std::unique_ptr<Learner> MakeLearner(const SmallProblem& problem, const Case& of,
                                     const std::string& checkpointed) {
  const Result<Recipe> recipe =
      problem.Load({std::string("model=") + of.model, "train.optimizer=sgd",
                    "train.activation_checkpointing=" + checkpointed});
  EXPECT_THAT(recipe, IsOk());
  auto learner = Learner::Create(*recipe, of.input, of.placement);
  EXPECT_THAT(learner, IsOk());
  return *std::move(learner);
}

TensorBatch BatchFor(const Case& of, int64_t samples) {
  torch::manual_seed(9);
  const ModelInput& in = of.input;
  return {.input = torch::randn({samples, in.channels, in.height, in.width})
                       .contiguous(ToTorch(of.placement.memory_format)),
          .target = torch::randint(4, {samples}, torch::kLong)};
}

std::vector<at::Tensor> GradientsOf(const Learner& learner) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : const_cast<Learner&>(learner).model().parameters()) {
    gradients.push_back(parameter.grad().clone());
  }
  return gradients;
}

void ExpectSameBits(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::equal(a[i], b[i])) << "tensor " << i;
}

class Checkpointed : public testing::TestWithParam<Case> {
 protected:
  const SmallProblem problem_;
};

// Two batches a step, so that running moments and random numbers of one would show in the next.
TEST_P(Checkpointed, GivesTheBitsOfAModelThatKeepsItsActivations) {
  const auto plain = MakeLearner(problem_, GetParam(), "[]");
  const auto checkpointed = MakeLearner(problem_, GetParam(), "\"*\"");
  std::vector<std::vector<at::Tensor>> gradients;
  std::vector<Json> random;
  for (Learner* learner : {plain.get(), checkpointed.get()}) {
    const TensorBatch batch = BatchFor(GetParam(), 4);
    for (int i = 0; i < 2; ++i) STOKER_ASSERT_OK(learner->Backward(batch, 2));
    gradients.push_back(GradientsOf(*learner));
    STOKER_ASSERT_OK(learner->Update({.lr = 0.1, .momentum = {}}, 1).status());
    STOKER_ASSERT_OK(learner->Step(batch, {.lr = 0.1, .momentum = {}}, 2).status());
    random.push_back(SaveRandomState(c10::kCPU));
  }
  ExpectSameBits(gradients[0], gradients[1]);
  EXPECT_EQ(random[0], random[1]);
  const NamedTensors expected = StateOf(plain->model()), found = StateOf(checkpointed->model());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(torch::equal(expected[i].tensor, found[i].tensor)) << expected[i].name;
  }
}

TEST_P(Checkpointed, GivesTheSameGradientWhereItIsAskedForByItself) {
  const auto plain = MakeLearner(problem_, GetParam(), "[]");
  const auto checkpointed = MakeLearner(problem_, GetParam(), "\"*\"");
  const TensorBatch batch = BatchFor(GetParam(), 4);
  torch::manual_seed(1);
  const Result<double> expected = plain->SquaredGradientOf(batch);
  torch::manual_seed(1);
  const Result<double> found = checkpointed->SquaredGradientOf(batch);
  ASSERT_THAT(expected, IsOk());
  ASSERT_THAT(found, IsOk());
  EXPECT_GT(*expected, 0);
  EXPECT_EQ(*expected, *found);
}

constexpr ModelInput kGrey{.channels = 1, .height = 16, .width = 16};
constexpr ModelInput kColour{.channels = 3, .height = 16, .width = 16};
const Placement kChannelsLast{.memory_format = MemoryFormat::kChannelsLast};
INSTANTIATE_TEST_SUITE_P(
    Models, Checkpointed,
    testing::Values(
        Case{"MlpWithDropout", "{mlp: {classes: 4, hidden: [32, 16], dropout: 0.3}}", kGrey},
        Case{"Convnet", "{convnet: {classes: 4, channels: [8, 8]}}", kGrey},
        Case{"ConvnetFused", "{convnet: {classes: 4, channels: [8, 8]}}", kGrey, kChannelsLast},
        Case{"Resnet18", "{resnet18: {classes: 4, stem: small, dropout: 0.2}}", kColour},
        Case{"Resnet18InBf16",
             "{resnet18: {classes: 4, stem: small}}",
             kColour,
             {.memory_format = MemoryFormat::kChannelsLast, .precision = Precision::kBFloat16}},
        Case{"MlpInFp16",
             "{mlp: {classes: 4, hidden: [32, 16], dropout: 0.3}}",
             kGrey,
             {.precision = Precision::kFloat16}},
        Case{"InceptionV3",
             "{inception_v3: {classes: 4, aux_weight: 0}}",
             {.channels = 3, .height = 75, .width = 75}}),
    NameOf);

class ActivationCheckpointing : public TrainerTest {};

TEST_F(ActivationCheckpointing, HoldsTheActivationsOfOneBlockAtATime) {
  // Eight layers of 2048 x 512 values, each with ReLU and dropout, beside their weights.
  const Case deep{"",
                  "{mlp: {classes: 4, hidden: [512, 512, 512, 512, 512, 512, 512, 512], "
                  "dropout: 0.1}}",
                  kGrey};
  std::vector<uint64_t> peaks;
  for (const char* blocks : {"[]", "[\"1\", \"4\", \"7\"]", "\"*\""}) {
    const auto learner = MakeLearner(problem_, deep, blocks);
    const TensorBatch batch = BatchFor(deep, 2048);
    const MemoryMeter meter(c10::kCPU);
    STOKER_ASSERT_OK(learner->Backward(batch));
    peaks.push_back(meter.peak());
  }
  EXPECT_LT(peaks[1], peaks[0]) << "some blocks of eight";
  EXPECT_LT(peaks[2], peaks[1]) << "all of them";
  EXPECT_LT(peaks[2], peaks[0] / 2);
}

TEST_F(ActivationCheckpointing, TrainsFrozenBlocksAndRunsToTheSameWeights) {
  const std::vector<std::string> plain = {
      "model={mlp: {classes: 4, hidden: [16, 16], dropout: 0.25}}", "train.epochs=1",
      "train.groups=[{match: \"1.*\", lr: 0}]"};
  std::vector<std::string> checkpointed = plain;
  checkpointed.emplace_back("train.activation_checkpointing=[\"1\", \"4\"]");
  STOKER_ASSERT_OK(Train("plain", plain).status());
  STOKER_ASSERT_OK(Train("checkpointed", checkpointed).status());
  EXPECT_EQ(WeightsOf("plain"), WeightsOf("checkpointed"));
}

TEST_F(ActivationCheckpointing, MayBeSwitchedOnWhereARunGoesOn) {
  STOKER_ASSERT_OK(Train("whole").status());
  STOKER_ASSERT_OK(TrainUntil("stopped", 7).status());
  STOKER_ASSERT_OK(Resume("stopped", {"train.activation_checkpointing=\"*\""}).status());
  EXPECT_EQ(WeightsOf("whole"), WeightsOf("stopped"));
}

TEST_F(ActivationCheckpointing, OfABlockThatThereIsNotIsRefused) {
  const Status status = Train("run", {"train.activation_checkpointing=[\"1\", \"9\"]"}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'9' matches no block of the model; there are '1'"));
  EXPECT_THAT(status.message(), HasSubstr("train.activation_checkpointing (--set train.act"));
  const Status none =
      Train("run", {"model={linear: {classes: 4}}", "train.activation_checkpointing=\"*\""})
          .status();
  EXPECT_EQ(none.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(none.message(), HasSubstr("has no blocks"));
}

TEST_F(ActivationCheckpointing, NamesTheLayerThatFirstWasNotFinite) {
  // A rate that no weight survives.
  const std::vector<std::string> set = {
      "model={mlp: {classes: 4, hidden: [16, 16], dropout: 0}}", "train.detect_anomaly=true",
      "train.schedule={constant: {lr: 1e30}}", "train.optimizer={sgd: {momentum: 0}}"};
  std::vector<std::string> checkpointed = set;
  checkpointed.emplace_back("train.activation_checkpointing=\"*\"");
  const Status plain = Train("plain", set).status(), again = Train("again", checkpointed).status();
  EXPECT_THAT(plain.message(), HasSubstr("layer"));
  EXPECT_THAT(again.message(), HasSubstr("layer"));
}

}  // namespace stoker::activation_checkpoint_test
