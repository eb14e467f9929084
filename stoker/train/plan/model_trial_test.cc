#include "stoker/train/plan/model_trial.h"

#include <torch/nn/modules/linear.h>

#include "stoker/train/loop/trainer_testing.h"

namespace stoker::model_trial_test {

// A model of a user's own that expects samples of `features` and gives `rows` rows for each.
struct Fixed {
  static constexpr std::string_view kName = "fixed";
  static constexpr std::string_view kHelp = "For tests.";
  int64_t features = 64;
  int64_t rows = 1;

  static void Describe(OptionTable<Fixed>& table) {
    table.Field("features", &Fixed::features, "").Field("rows", &Fixed::rows, "");
  }
  Result<std::shared_ptr<Model>> Build(const ModelInput&) const;
};

struct FixedModel : Model {
  explicit FixedModel(const Fixed& options) : rows(options.rows) {
    body = register_module("body", torch::nn::Linear(options.features, 8));
    head = register_module("head", torch::nn::Linear(8, 4));
  }
  at::Tensor Forward(const at::Tensor& input) override {
    return head(body(input.flatten(1)).relu()).repeat({rows, 1});
  }
  int64_t rows;
  torch::nn::Linear body{nullptr}, head{nullptr};
};

Result<std::shared_ptr<Model>> Fixed::Build(const ModelInput&) const {
  return std::make_shared<FixedModel>(*this);
}

class ModelTrialTest : public TrainerTest {
 protected:
  Status CreateWith(const Fixed& options, const std::vector<std::string>& set = {}) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, problem_.Load(set));
    recipe.model = Configure(options);
    return Trainer::Create(std::move(recipe), problem_ / "run").status();
  }
};

TEST_F(ModelTrialTest, AModelThatDoesNotFitTheDataIsNamedWithLayerShapesAndPlace) {
  const Status status = CreateWith({.features = 100});
  EXPECT_THAT(status, FailsWith(StatusCode::kInvalidArgument, "in layer 'body' (aten::"));
  EXPECT_THAT(status.message(), testing::HasSubstr("an input of [2, 1, 8, 8]"));
  EXPECT_THAT(status.message(), testing::HasSubstr("the model fixed on samples of"));
  EXPECT_FALSE(std::filesystem::exists(problem_ / "run"));
}

TEST_F(ModelTrialTest, ScoresThatAreNoRowASampleAreRefused) {
  EXPECT_THAT(CreateWith({.rows = 3}),
              FailsWith(StatusCode::kInvalidArgument, "gives scores of [6, 4] for 2 samples"));
}

TEST_F(ModelTrialTest, AModelThatFitsPasses) { STOKER_EXPECT_OK(CreateWith({})); }

TEST_F(ModelTrialTest, ItCanBeSwitchedOff) {
  STOKER_EXPECT_OK(CreateWith({.features = 100}, {"train.sanity=false"}));
}

TEST_F(ModelTrialTest, ALossThatDoesNotFitIsNamedWithItsPlaceInTheRecipe) {
  EXPECT_THAT(Train("run", {"train.loss={cross_entropy: {weights: [1, 2]}}"}),
              FailsWith(StatusCode::kInvalidArgument, "trying the loss cross_entropy ("));
}

// Only the samples themselves tell, before anything is written.
TEST_F(ModelTrialTest, AClassThatTheModelDoesNotHaveIsFoundInTheFirstTwoSamples) {
  Array labels = QuadrantLabels(96);
  labels.values<uint8_t>()[1] = 9;
  STOKER_ASSERT_OK(WriteIdx(problem_ / "train-labels", labels));
  const std::vector<std::string> in_order = {
      "data.train=[{idx: {images: train-images, labels: train-labels}}, "
      "{normalize: {mean: 0.5, std: 0.25}}, {batch: {size: 16}}]",
      "train.tune=off"};
  const Status status = CreateWith({}, in_order);
  EXPECT_THAT(status, FailsWith(StatusCode::kDataLoss,
                                "sample 1 of data.train (numbered from 0) has class number 9"));
  EXPECT_THAT(status.message(), testing::HasSubstr("of the model fixed: sample 1"));
  EXPECT_FALSE(std::filesystem::exists(problem_ / "run"));
}

TEST_F(ModelTrialTest, TheSamplesThatAreTriedAreThoseOfTheData) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                              problem_.Load({"data.train=[{idx: {images: train-images, labels: "
                                             "train-labels}}, {normalize: {mean: 0.5, std: 0.25}}, "
                                             "{batch: {size: 16}}]"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const FirstBatch first, TryFirstSamples(recipe));
  EXPECT_EQ(first.batch.size(), 16);
  EXPECT_EQ(first.batch.target.only()[3].item<int64_t>(), 3);
  EXPECT_GT(first.batch.input.only().abs().sum().item<float>(), 0);
}

TEST_F(ModelTrialTest, ABatchOfOneSampleIsTriedAsItIs) {
  STOKER_EXPECT_OK(
      CreateWith({}, {"data.train=[{idx: {images: train-images, labels: train-labels}},"
                      " {normalize: {mean: 0.5, std: 0.25}}, {batch: {size: 1}}]"}));
}

TEST_F(ModelTrialTest, EvaluationDataWithAClassTooManyIsFoundBeforeTheFirstStep) {
  Array labels = QuadrantLabels(32);
  labels.values<uint8_t>()[5] = 9;
  STOKER_ASSERT_OK(WriteIdx(problem_ / "eval-labels", labels));
  Watcher watcher;
  EXPECT_THAT(
      Train("run", {}, &watcher),
      FailsWith(CodeOfAWrongClass(), "sample 5 of data.eval (numbered from 0) has class number 9"));
  EXPECT_EQ(watcher.steps, 0);
}

}  // namespace stoker::model_trial_test
