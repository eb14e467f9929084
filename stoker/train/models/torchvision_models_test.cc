// The models that torchvision has too, against torchvision 0.26 with torch 2.11: from the same seed
// it gives the same first weights, so that few scores prove names, layout, initialisation and
// arithmetic. Whoever has another torch, whose generator may draw other numbers, sees the tests of
// scores fail and those of names hold.
#include <torch/utils.h>

#include <algorithm>

#include "stoker/base/testing.h"
#include "stoker/io/checksum.h"
#include "stoker/run/testing.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/model.h"
#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/models/inception_v3.h"
#include "stoker/train/models/resnet.h"
#include "stoker/train/step/learner.h"

namespace stoker::torchvision_models_test {

using Values = std::vector<float>;

template <typename Kind>
std::shared_ptr<Model> Built(const Kind& kind, int64_t extent = 64,
                             const Placement& placement = {}) {
  auto model =
      BuildModel(Configure(kind), {.channels = 3, .height = extent, .width = extent}, 1, placement);
  EXPECT_THAT(model, IsOk());
  return *std::move(model);
}

// Values that any program can make: ((k * 37) mod 101 - 50) / 50, k counted in memory order.
at::Tensor Images(int64_t samples, int64_t extent) {
  const at::Tensor k = torch::arange(samples * 3 * extent * extent, torch::kLong);
  return ((k * 37).remainder(101) - 50)
      .to(torch::kFloat)
      .div(50)
      .view({samples, 3, extent, extent});
}

// One line a tensor, sorted: "fc.weight[1000, 512]".
uint32_t ChecksumOfNames(const Model& model) {
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : StateOf(model)) {
    lines.push_back(name + ShapeToString(tensor.sizes().vec()) + "\n");
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return Crc32c(text);
}

void ExpectScores(const at::Tensor& scores, const Values& expected) {
  const at::Tensor wanted = torch::tensor(expected).view_as(scores);
  const double scale = wanted.abs().max().item<double>();
  EXPECT_LT((scores - wanted).abs().max().item<double>(), 2e-3 * scale)
      << "got " << scores << "\nwanted " << wanted;
}

// In training mode, then in evaluation mode with the statistics that this left.
template <typename Kind>
void ExpectTrainAndEvalScores(const Kind& kind, const Values& train, const Values& eval) {
  const torch::NoGradGuard no_grad;
  const auto model = Built(kind);
  ExpectScores(model->Forward(Images(2, 64)), train);
  model->eval();
  ExpectScores(model->Forward(Images(2, 64)), eval);
}

TEST(Resnet, HasTheNamesShapesAndParametersOfTorchvision) {
  const auto resnet18 = Built(Resnet18{}), resnet34 = Built(Resnet34{}),
             resnet50 = Built(Resnet50{});
  EXPECT_EQ(CountParameters(*resnet18), 11'689'512);
  EXPECT_EQ(CountParameters(*resnet34), 21'797'672);
  EXPECT_EQ(CountParameters(*resnet50), 25'557'032);
  EXPECT_EQ(ChecksumOfNames(*resnet18), 0x4c6c8739);
  EXPECT_EQ(ChecksumOfNames(*resnet34), 0xfea3bfef);
  EXPECT_EQ(ChecksumOfNames(*resnet50), 0xa5c42e0f);
}

TEST(Resnet18, GivesTorchvisionsScores) {
  ExpectTrainAndEvalScores(Resnet18{.classes = 3},
                           {0.22558, -0.504987, -0.412707, 0.191089, -0.320932, -0.458709},
                           {0.00387324, 0.0869838, -0.025115, 0.0471388, 0.0395023, -0.013422});
}

TEST(Resnet34, GivesTorchvisionsScores) {
  ExpectTrainAndEvalScores(Resnet34{.classes = 3},
                           {0.12615, -0.0226644, -0.673134, 0.841985, 0.197474, -0.865003},
                           {0.33818, 1.89097, -1.27273, 0.439555, 2.36904, -0.760751});
}

TEST(Resnet50, GivesTorchvisionsScores) {
  ExpectTrainAndEvalScores(Resnet50{.classes = 3},
                           {0.446069, -0.503421, 1.07832, 0.648788, -0.536856, 0.883549},
                           {0.0298155, -0.0885554, 0.121141, 0.0316539, -0.0635279, 0.138858});
}

TEST(Resnet, GivesTheSameScoresAndGradientsInChannelsLast) {
  const auto contiguous = Built(Resnet18{.classes = 3}),
             other =
                 Built(Resnet18{.classes = 3}, 64, {.memory_format = MemoryFormat::kChannelsLast});
  const at::Tensor expected = contiguous->Forward(Images(2, 64));
  const at::Tensor got = other->Forward(Images(2, 64).contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::allclose(got, expected, 1e-3, 1e-4));
  expected.square().sum().backward();
  got.square().sum().backward();
  EXPECT_TRUE(torch::allclose(other->named_parameters()["fc.weight"].grad(),
                              contiguous->named_parameters()["fc.weight"].grad(), 1e-2, 1e-3));
}

TEST(Resnet, KeepsSmallImagesLargeWithTheSmallStem) {
  const auto model = Built(Resnet18{.classes = 10, .stem = "small"}, 32);
  EXPECT_EQ(model->named_parameters()["conv1.weight"].sizes().vec(),
            (std::vector<int64_t>{64, 3, 3, 3}));
  EXPECT_EQ(CountParameters(*model), 11'173'962);
  EXPECT_EQ(model->Forward(Images(2, 32)).sizes().vec(), (std::vector<int64_t>{2, 10}));
}

TEST(Resnet, BeginsBlocksAtNothingWhereItIsAsked) {
  const auto model = Built(Resnet50{.classes = 3, .zero_init_residual = true});
  const auto parameters = model->named_parameters();
  for (const auto& item : parameters) {
    const bool norm = item.key().find("bn") != std::string::npos && item.key().ends_with("weight");
    if (!norm) continue;
    const bool zero = item.key().find("bn3") != std::string::npos;
    EXPECT_EQ(item.value().sum().item<double>(), zero ? 0.0 : item.value().numel()) << item.key();
  }
}

TEST(Resnet, DropsValuesOnlyWhileItTrains) {
  const torch::NoGradGuard no_grad;
  const auto model = Built(Resnet18{.classes = 3, .stem = "small", .dropout = 0.5}, 8);
  EXPECT_FALSE(torch::equal(model->Forward(Images(2, 8)), model->Forward(Images(2, 8))));
  model->eval();
  EXPECT_TRUE(torch::equal(model->Forward(Images(2, 8)), model->Forward(Images(2, 8))));
}

TEST(InceptionV3, HasTheNamesShapesAndParametersOfTorchvision) {
  const auto model = Built(InceptionV3{}, 299);
  EXPECT_EQ(CountParameters(*model), 27'161'264);
  EXPECT_EQ(ChecksumOfNames(*model), 0xb622f76e);
  EXPECT_EQ(CountParameters(*Built(InceptionV3{.aux_weight = 0}, 75)), 23'834'568);
}

TEST(InceptionV3, GivesTorchvisionsScoresAlsoOfTheAuxiliaryHead) {
  const torch::NoGradGuard no_grad;
  const auto model = Built(InceptionV3{.classes = 3, .dropout = 0}, 299);
  const TrainingScores scores = model->ForwardToTrain(Images(2, 299));
  ExpectScores(scores.scores, {1.04798, 2.15822, -0.610075, 1.29124, 1.2521, -0.867941});
  ASSERT_EQ(scores.auxiliary.size(), 1u);
  EXPECT_EQ(scores.auxiliary[0].weight, 0.4);
  ExpectScores(scores.auxiliary[0].scores,
               {-0.0315118, -0.00453554, -0.00614176, 0.0025716, 0.0125719, -0.0042141});
  model->eval();
  ExpectScores(model->Forward(Images(2, 299)), {-171833000.0, -1583040000.0, 3719070000.0,
                                                -76111100.0, -1524390000.0, 3788300000.0});
}

TEST(InceptionV3, TakesSmallerImagesWithoutItsHead) {
  const torch::NoGradGuard no_grad;
  const InceptionV3 kind{.classes = 3, .aux_weight = 0, .dropout = 0};
  EXPECT_TRUE(Built(kind, 96)->ForwardToTrain(Images(2, 96)).auxiliary.empty());
  // The last layers see one pixel an image, so the batch's own statistics would be those of two
  // values, and the last bits of the layers before would decide. Those of a new model do not depend
  // on the batch. torchvision's scores, computed in float64.
  const auto evaluated = Built(kind, 96);
  evaluated->eval();
  ExpectScores(evaluated->Forward(Images(2, 96)),
               {103408091.0, 396709260.0, 139464063.0, 97651365.0, 396057161.0, 108854277.0});
}

TEST(InceptionV3, BringsImagenetsMomentsToThoseOfItsWeights) {
  const torch::NoGradGuard no_grad;
  const auto plain = Built(InceptionV3{.classes = 3, .aux_weight = 0}, 75),
             transforms =
                 Built(InceptionV3{.classes = 3, .aux_weight = 0, .transform_input = true}, 75);
  plain->eval();
  transforms->eval();
  // A picture normalised by ImageNet's moments, and by 0.5 and 0.5.
  const at::Tensor pixels = Images(1, 75).abs();
  const at::Tensor mean = torch::tensor({.485f, .456f, .406f}).view({1, 3, 1, 1});
  const at::Tensor deviation = torch::tensor({.229f, .224f, .225f}).view({1, 3, 1, 1});
  EXPECT_TRUE(torch::allclose(transforms->Forward((pixels - mean) / deviation),
                              plain->Forward((pixels - .5) / .5), 1e-3));
}

TEST(InceptionV3, RefusesImagesThatAreTooSmallOrHaveOtherChannels) {
  EXPECT_THAT(
      InceptionV3{}.Build({.channels = 3, .height = 298, .width = 299}),
      FailsWith(StatusCode::kInvalidArgument, "without its auxiliary head (aux_weight: 0)"));
  EXPECT_THAT((InceptionV3{.aux_weight = 0}.Build({.channels = 3, .height = 75, .width = 74})),
              FailsWith(StatusCode::kInvalidArgument, "at least 75 x 75: put `resize`"));
  EXPECT_THAT(
      (InceptionV3{.transform_input = true}.Build({.channels = 1, .height = 299, .width = 299})),
      FailsWith(StatusCode::kInvalidArgument, "3 channels, these have 1"));
}

// A linear layer and, beside it, another one whose scores are auxiliary.
class TwoHeadsModel final : public Model {
 public:
  TwoHeadsModel() {
    main_ = register_parameter("main", torch::zeros({4, 64}));
    aside_ = register_parameter("aside", torch::full({4, 64}, .01).cumsum(0));
  }
  at::Tensor Forward(const at::Tensor& input) override {
    return at::linear(input.flatten(1), main_);
  }
  TrainingScores ForwardToTrain(const at::Tensor& input) override {
    return {Forward(input), {{at::linear(input.flatten(1), aside_), .25}}};
  }

 private:
  at::Tensor main_, aside_;
};
struct TwoHeads {
  static constexpr std::string_view kName = "two_heads";
  int64_t unused = 1;
  static void Describe(OptionTable<TwoHeads>& table) {
    table.Field("unused", &TwoHeads::unused, "nothing");
  }
  Result<std::shared_ptr<Model>> Build(const ModelInput&) const {
    return std::make_shared<TwoHeadsModel>();
  }
};

TEST(AuxiliaryHeads, AddTheirWeighedLossInTraining) {
  SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, problem.Load());
  recipe.model = Configure(TwoHeads{});
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto learner, Learner::Create(recipe, {.channels = 1, .height = 8, .width = 8}, {}));
  const TensorBatch batch{.input = torch::ones({2, 1, 8, 8}),
                          .target = torch::tensor({1, 3}, torch::kLong)};
  const TrainingScores scores = learner->model().ForwardToTrain(batch.input.only());
  const auto objective = *CrossEntropy{}.Build();
  const at::Tensor expected =
      objective->Mean(scores.scores, batch.target.only()) +
      .25 * objective->Mean(scores.auxiliary[0].scores, batch.target.only());
  const at::Tensor before = learner->model().named_parameters()["aside"].clone();
  STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss,
                              learner->Step(batch, {.lr = .1, .momentum = {}}));
  EXPECT_FLOAT_EQ(loss.item<float>(), expected.item<float>());
  EXPECT_FALSE(torch::equal(learner->model().named_parameters()["aside"], before));
}

}  // namespace stoker::torchvision_models_test
