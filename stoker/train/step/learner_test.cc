#include "stoker/train/step/learner.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/run/testing.h"
#include "stoker/train/core/parameters.h"

namespace stoker::learner_test {

class LearnerTest : public testing::Test {
 protected:
  std::unique_ptr<Learner> Make(std::vector<std::string> set = {}) {
    set.insert(set.begin(), "model={mlp: {classes: 4, hidden: [16], dropout: 0}}");
    const Result<Recipe> recipe = problem_.Load(set);
    EXPECT_THAT(recipe, IsOk());
    auto learner = Learner::Create(*recipe, {.channels = 1, .height = 8, .width = 8}, {});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }

  static TensorBatch Batch(int64_t samples) {
    torch::manual_seed(9);
    return {.input = torch::randn({samples, 1, 8, 8}),
            .target = torch::randint(4, {samples}, torch::kLong)};
  }
  static TensorBatch Part(const TensorBatch& batch, int64_t begin, int64_t end) {
    return {.input = batch.input.Rows(begin, end - begin),
            .target = batch.target.Rows(begin, end - begin)};
  }
  static void ExpectSameWeights(Learner& a, Learner& b) {
    const NamedTensors of_a = StateOf(a.model()), of_b = StateOf(b.model());
    for (size_t i = 0; i < of_a.size(); ++i) {
      EXPECT_TRUE(torch::allclose(of_a[i].tensor, of_b[i].tensor, 1e-5, 1e-7)) << of_a[i].name;
    }
  }

  SmallProblem problem_;
};

// Sequences of three of the tokens from `first` to `last`, each of which is used.
TensorBatch Tokens(int64_t first, int64_t last) {
  const int64_t count = last - first + 1;
  const at::Tensor tokens = torch::arange(2 * count).unsqueeze(1) + torch::arange(3).unsqueeze(0);
  return {.input = tokens % count + first, .target = torch::arange(2 * count) % 4};
}

class LearnerOfTokensTest : public LearnerTest {
 protected:
  std::unique_ptr<Learner> MakeOfTokens(int64_t tokens, std::vector<std::string> set,
                                        std::string_view model = "embedding_bag") {
    set.insert(set.begin(),
               fmt::format("model={{{}: {{classes: 4, tokens: {}, width: 5}}}}", model, tokens));
    const Result<Recipe> recipe = problem_.Load(set);
    EXPECT_THAT(recipe, IsOk());
    auto learner = Learner::Create(*recipe, {.channels = 0, .tokens = true}, {});
    EXPECT_THAT(learner, IsOk());
    return *std::move(learner);
  }
  static at::Tensor TableOf(Learner& learner) {
    return learner.model().named_parameters()["embedding.weight"].detach().clone();
  }
  static void Steps(Learner& learner, const std::vector<TensorBatch>& batches) {
    int64_t step = 0;
    for (const TensorBatch& batch : batches)
      STOKER_ASSERT_OK(learner.Step(batch, {.lr = .05, .momentum = {}}, ++step));
  }
};

TEST_F(LearnerOfTokensTest, LazyStepsThatUseAllRowsAreThoseOfAWholeGradient) {
  for (const std::string more : {"train.clip={}", "train.clip={norm: 0.1}",
                                 "train.clip={value: 0.01}", "train.clip={adaptive: 0.02}"}) {
    SCOPED_TRACE(more);
    const auto whole = MakeOfTokens(7, {"train.optimizer={adamw: {}}", more});
    const auto lazy = MakeOfTokens(7, {"train.optimizer={adamw: {lazy: true}}", more});
    for (Learner* learner : {whole.get(), lazy.get()}) {
      learner->Check({.gradients = true});
      Steps(*learner, {Tokens(1, 6), Tokens(1, 6)});
      // Two batches make the last step, the rows of which are joined.
      STOKER_ASSERT_OK(learner->Backward(Tokens(1, 4), 2));
      STOKER_ASSERT_OK(learner->Backward(Tokens(1, 6), 2));
      STOKER_ASSERT_OK(learner->Update({.lr = .05, .momentum = {}}, 3));
    }
    // Padding, the first row, has no gradient; AdamW's decay moves it where the gradient is whole.
    EXPECT_TRUE(torch::allclose(TableOf(*whole).narrow(0, 1, 6), TableOf(*lazy).narrow(0, 1, 6),
                                1e-5, 1e-6));
  }
}

TEST_F(LearnerTest, LazyUpdatesOfAModelWithoutEmbeddingsAreRefused) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe,
                              problem_.Load({"train.optimizer={adam: {lazy: true}}"}));
  EXPECT_THAT(Learner::Create(recipe, {.channels = 1, .height = 8, .width = 8}, {}),
              FailsWith(StatusCode::kInvalidArgument, "leave it out"));
}

TEST_F(LearnerOfTokensTest, LazyStepsLeaveRowsThatTheyDoNotUse) {
  const auto lazy = MakeOfTokens(20, {"train.optimizer={adamw: {lazy: true}}"});
  const at::Tensor before = TableOf(*lazy);
  Steps(*lazy, {Tokens(1, 5)});
  const at::Tensor between = TableOf(*lazy);
  Steps(*lazy, {Tokens(6, 9)});
  const at::Tensor after = TableOf(*lazy);
  EXPECT_FALSE(between.narrow(0, 1, 5).equal(before.narrow(0, 1, 5)));
  EXPECT_TRUE(after.narrow(0, 1, 5).equal(between.narrow(0, 1, 5)));
  EXPECT_TRUE(after.narrow(0, 10, 10).equal(before.narrow(0, 10, 10)));
}

TEST_F(LearnerOfTokensTest, LazyStepsOfTheGreatestValuesLeaveRowsThatTheyDoNotUse) {
  const std::vector<std::string> greatest = {"model.embedding_bag.combine=max"};
  const auto whole = MakeOfTokens(20, greatest);
  const auto lazy = MakeOfTokens(20, {greatest[0], "train.optimizer={adamw: {lazy: true}}"});
  const at::Tensor before = TableOf(*lazy);
  for (Learner* learner : {whole.get(), lazy.get()}) Steps(*learner, {Tokens(1, 5)});
  EXPECT_TRUE(TableOf(*lazy).narrow(0, 6, 14).equal(before.narrow(0, 6, 14)));
  EXPECT_TRUE(TableOf(*lazy).narrow(0, 1, 5).allclose(TableOf(*whole).narrow(0, 1, 5), 1e-5, 1e-6));
}

TEST_F(LearnerOfTokensTest, PaddingIsNoUseOfARow) {
  for (const std::string model : {"embedding_bag", "gru", "lstm"}) {
    SCOPED_TRACE(model);
    const auto lazy = MakeOfTokens(
        9, {fmt::format("model.{}.padding=-1", model), "train.optimizer={adamw: {lazy: true}}"},
        model);
    const at::Tensor before = TableOf(*lazy);
    TensorBatch batch = Tokens(1, 5);
    batch.input.only().select(1, 2).fill_(-1);
    Steps(*lazy, {batch, batch});
    EXPECT_TRUE(TableOf(*lazy)[0].equal(before[0]));
    EXPECT_FALSE(TableOf(*lazy)[1].equal(before[1]));
    const at::Tensor moved = TableOf(*lazy);
    batch.input.only().fill_(-1);  // no row at all
    Steps(*lazy, {batch});
    EXPECT_TRUE(TableOf(*lazy).equal(moved));
  }
}

TEST_F(LearnerOfTokensTest, AdagradUpdatesTheRowsOfALargeTableWithoutBeingAsked) {
  const auto learner = MakeOfTokens(5000, {"train.optimizer=adagrad"});
  STOKER_ASSERT_OK(learner->Backward(Tokens(1, 9)));
  EXPECT_TRUE(learner->model().named_parameters()["embedding.weight"].grad().is_sparse());
  STOKER_ASSERT_OK(learner->Update({.lr = .05, .momentum = {}}, 1));
  STOKER_ASSERT_OK_AND_ASSIGN(const double squared, learner->SquaredGradientOf(Tokens(1, 9)));
  EXPECT_GT(squared, 0);
}

// SGD, so that a gradient of the wrong length cannot hide.
TEST_F(LearnerTest, BatchesOfAnySizesMakeTheStepOfOneBatchOfAllSamples) {
  const std::vector<std::string> sgd = {"train.optimizer=sgd"};
  const TensorBatch batch = Batch(11);
  const ScheduleValue now{.lr = .5, .momentum = {}};
  const auto whole = Make(sgd);
  STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss, whole->Step(batch, now));
  for (const std::vector<int64_t>& ends :
       {std::vector<int64_t>{4, 8, 11}, {2, 11}, {9, 11}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}) {
    const auto parts = Make(sgd);
    int64_t begin = 0;
    for (const int64_t end : ends) {
      STOKER_ASSERT_OK(parts->Backward(Part(batch, begin, end), std::ssize(ends)));
      begin = end;
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor mean, parts->Update(now, 1));
    EXPECT_NEAR(mean.item<double>(), loss.item<double>(), 1e-6);
    ExpectSameWeights(*parts, *whole);
  }
}

TEST_F(LearnerTest, SoDoTheyWhereTargetsAreNumbers) {
  const TensorBatch classes = Batch(11);
  const std::pair<const char*, at::Tensor> targets[] = {
      {"mse", torch::randn({11, 4})},
      {"bce", torch::rand({11, 4})},
      {"{cross_entropy: {weights: [1, 2, 3, 4]}}", torch::softmax(torch::randn({11, 4}), 1)}};
  const ScheduleValue now{.lr = .5, .momentum = {}};
  for (const auto& [loss, target] : targets) {
    SCOPED_TRACE(loss);
    const std::vector<std::string> set = {"train.optimizer=sgd",
                                          fmt::format("train.loss={}", loss)};
    const TensorBatch batch{.input = classes.input, .target = target};
    const auto whole = Make(set), parts = Make(set);
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor mean, whole->Step(batch, now));
    for (const auto& [begin, end] : {std::pair{0, 4}, {4, 8}, {8, 11}}) {
      STOKER_ASSERT_OK(parts->Backward(Part(batch, begin, end), 3));
    }
    STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor of_parts, parts->Update(now, 1));
    EXPECT_NEAR(of_parts.item<double>(), mean.item<double>(), 1e-6);
    ExpectSameWeights(*parts, *whole);
  }
}

TEST_F(LearnerTest, ABrokenLossInOneOfSeveralBatchesMovesNothing) {
  const auto learner = Make(), untouched = Make();
  TensorBatch broken = Batch(4);
  broken.input.only()[0][0][0][0] = NAN;
  STOKER_ASSERT_OK(learner->Backward(Batch(4), 3));
  STOKER_ASSERT_OK(learner->Backward(broken, 3));
  STOKER_ASSERT_OK(learner->Backward(Batch(4), 3));
  STOKER_ASSERT_OK_AND_ASSIGN(const at::Tensor loss, learner->Update({.lr = 1, .momentum = {}}, 1));
  EXPECT_TRUE(std::isnan(loss.item<double>()));
  ExpectSameWeights(*learner, *untouched);
}

TEST_F(LearnerTest, ClipsTheGradientOfTheWholeStep) {
  const std::vector<std::string> set = {"train.optimizer={sgd: {momentum: 0}}",
                                        "train.clip.norm=0.01"};
  const auto clipped = Make(set), before = Make(set);
  for (const int64_t begin : {0, 4}) {
    STOKER_ASSERT_OK(clipped->Backward(Part(Batch(8), begin, begin + 4), 2));
  }
  STOKER_ASSERT_OK(clipped->Update({.lr = 1, .momentum = {}}, 1));
  double moved = 0;
  const NamedTensors from = StateOf(before->model()), to = StateOf(clipped->model());
  for (size_t i = 0; i < from.size(); ++i) {
    moved += (to[i].tensor - from[i].tensor).square().sum().item<double>();
  }
  EXPECT_NEAR(std::sqrt(moved), .01, 1e-5);
}

TEST(MatchesPattern, KnowsStarsAndQuestionMarks) {
  EXPECT_TRUE(MatchesPattern("layer1.0.bias", "*.bias"));
  EXPECT_TRUE(MatchesPattern("layer1.0.bias", "layer?.*"));
  EXPECT_TRUE(MatchesPattern("abcabd", "*ab?"));
  EXPECT_TRUE(MatchesPattern("", "*"));
  EXPECT_TRUE(MatchesPattern("a", "a**"));
  EXPECT_FALSE(MatchesPattern("layer1.0.bias2", "*.bias"));
  EXPECT_FALSE(MatchesPattern("a", "a?"));
  EXPECT_FALSE(MatchesPattern("", "?"));
}

class ParametersTest : public testing::Test {
 protected:
  Result<TrainedParameters> Trained(const std::vector<std::string>& set) {
    STOKER_ASSIGN_OR_RETURN(const Recipe recipe, problem_.Load(set));
    STOKER_ASSIGN_OR_RETURN(
        const auto model,
        BuildModel(recipe.model, {.channels = 1, .height = 8, .width = 8}, 1, {}));
    return ParametersToTrain(*model, recipe.train);
  }
  SmallProblem problem_;
};

TEST_F(ParametersTest, ShareRatesByLayerDimensionAndPattern) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainedParameters parameters,
      Trained({"train.layer_rate=0.5", "train.decay_vectors=false",
               "train.groups=[{match: '1.*', lr: 10}, {match: '*.weight', weight_decay: 3}]"}));
  ASSERT_EQ(parameters.size(), 4u);
  const std::vector<double> rates = {5, 5, 1, 1}, decays = {1, 0, 3, 0};
  for (size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_EQ(parameters[i].lr_scale, rates[i]) << parameters[i].name;
    EXPECT_EQ(parameters[i].decay_scale, decays[i]) << parameters[i].name;
  }
}

TEST_F(ParametersTest, AGroupThatMatchesNothingIsRefusedWithTheNamesThereAre) {
  EXPECT_THAT(
      Trained({"train.groups=[{match: 'conv*'}]"}),
      FailsWith(StatusCode::kInvalidArgument,
                "train.groups (--set train.groups): 'conv*' matches none of the model's 4"));
}

}  // namespace stoker::learner_test
