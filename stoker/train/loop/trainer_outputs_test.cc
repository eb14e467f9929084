// Whole runs of a model of several targets: a class and a number.
#include "stoker/base/random.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/predict/predictor.h"

namespace stoker::trainer_outputs_test {

using testing::AllOf;
using testing::HasSubstr;

// The sign of a is the class, and both make the number, which lies between 100 and 300.
std::string Rows(int64_t count, uint64_t seed) {
  std::string text = "a,b,sign,price\n";
  for (int64_t i = 0; i < count; ++i) {
    Rng rng(seed, 0, static_cast<uint64_t>(i), 0);
    const double a = static_cast<double>(rng.Below(2000)) / 1000 - 1;
    const double b = static_cast<double>(rng.Below(1000)) / 1000;
    text += fmt::format("{:.3f},{:.3f},{},{:.3f}\n", a, b, a > 0 ? "plus" : "minus",
                        200 + 50 * a + 50 * b);
  }
  return text;
}

constexpr const char* kRecipe = R"(
data:
  root: .
  train:
    - csv: {files: train.csv, fields: {image: {columns: [a, b]}, sign: text, price: float32}}
    - lookup: {field: sign, values: [minus, plus]}
    - shuffle
    - batch: {size: 16}
  eval:
    - csv: {files: eval.csv, fields: {image: {columns: [a, b]}, sign: text, price: float32}}
    - lookup: {field: sign, values: [minus, plus]}
    - batch: {size: 16}
model: {mlp: {classes: 3, hidden: [16]}}
train:
  target:
    sign: {outputs: 2, metrics: [f1]}
    price: {loss: mse, normalize: auto, weight: 0.5, metrics: [rmse]}
  epochs: 12
  device: cpu
  threads: 1
  schedule: {one_cycle: {max_lr: 0.05}}
)";

class OutputsTest : public testing::Test {
 protected:
  OutputsTest() {
    WriteFileForTest(directory_ / "train.csv", Rows(320, 1));
    WriteFileForTest(directory_ / "eval.csv", Rows(64, 2));
    WriteFileForTest(directory_ / "recipe.yaml", OnTestDevice(kRecipe));
  }
  Result<Recipe> Load(const std::vector<std::string>& set = {}) const {
    return LoadRecipe(directory_ / "recipe.yaml", set);
  }
  Result<TrainSummary> Train(const std::string& run, const std::vector<std::string>& set = {},
                             Watcher* watcher = nullptr) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, Load(set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Create(std::move(recipe), directory_ / run));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }
  std::string WeightsOf(const std::string& run) const {
    return ReadFileForTest(RunPaths{directory_ / run}.weights());
  }

  TempDir directory_;
};

TEST_F(OutputsTest, EachIsLearnedAndMeasuredByItself) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run"));
  const Evaluation& evaluation = *summary.last_evaluation;
  const Json& metrics = evaluation.metrics;
  EXPECT_FALSE(evaluation.accuracy.has_value());
  EXPECT_GT(metrics["sign.accuracy"].get<double>(), .9);
  EXPECT_GT(metrics["sign.f1"].get<double>(), .9);
  // In the units of the target, whose deviation is about 32.
  EXPECT_LT(metrics["price.rmse"].get<double>(), 8);
  EXPECT_FALSE(metrics.contains("price.accuracy"));
  EXPECT_NEAR(evaluation.loss,
              .5 * metrics["price.loss"].get<double>() + metrics["sign.loss"].get<double>(), 1e-9);
}

TEST_F(OutputsTest, TheirOrderInTheRecipeIsNoChangeAndAResumedRunEndsWithTheSameBytes) {
  STOKER_ASSERT_OK(Train("whole"));
  Watcher watcher;
  watcher.stop_after = 77;
  STOKER_ASSERT_OK(Train("cut", {}, &watcher));
  const std::string turned =
      "train.target={price: {loss: mse, normalize: auto, weight: 0.5, metrics: [rmse]}, sign: "
      "{outputs: 2, metrics: [f1]}}";
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, Load({turned}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Resume(std::move(recipe), directory_ / "cut"));
  STOKER_ASSERT_OK(trainer->Run());
  EXPECT_EQ(WeightsOf("whole"), WeightsOf("cut"));
}

TEST_F(OutputsTest, ARunEvaluatesAndPredictsEachTarget) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(directory_ / "run"));
  ASSERT_EQ(predictor->targets().size(), 2u);
  EXPECT_TRUE(predictor->targets()[0].classes.empty());
  EXPECT_EQ(predictor->targets()[1].classes, (std::vector<std::string>{"minus", "plus"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation evaluation, predictor->EvaluateRun());
  EXPECT_EQ(evaluation.loss, summary.last_evaluation->loss);
  EXPECT_EQ(evaluation.metrics, summary.last_evaluation->metrics);
  int64_t right = 0;
  double squares = 0;
  STOKER_ASSERT_OK(
      predictor->PredictRun({.fields = {"sign", "price"}}, [&](const PredictedBatch& batch) {
        for (size_t i = 0; i < batch.predictions.size(); ++i) {
          const std::vector<Prediction>& parts = batch.predictions[i].parts;
          EXPECT_EQ(parts[0].target + parts[1].target, "pricesign");
          EXPECT_TRUE(parts[0].probabilities.empty());
          right += parts[1].best == batch.fields[0].values<int64_t>()[i];
          const double off = parts[0].scores[0] - batch.fields[1].values<float>()[i];
          squares += off * off;
        }
        return OkStatus();
      }));
  EXPECT_EQ(static_cast<double>(right) / 64, evaluation.metrics["sign.accuracy"].get<double>());
  EXPECT_NEAR(std::sqrt(squares / 64), evaluation.metrics["price.rmse"].get<double>(), 1e-3);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const auto samples,
      predictor->Predict(Array::Of<float>(std::vector<float>{.9f, .5f, -.9f, .5f}, {2, 2})));
  EXPECT_EQ(samples[0].parts[1].best, 1);
  EXPECT_EQ(samples[1].parts[1].best, 0);
  EXPECT_NEAR(samples[0].parts[0].scores[0], 270, 25);
}

TEST_F(OutputsTest, ATrainedModelKeepsTheOutputsOfItsTargets) {
  STOKER_ASSERT_OK(Train("run", {"train.max_steps=2"}));
  for (const char* const changed : {"train.target=sign", "train.target.sign.outputs=1",
                                    "train.target={sign: {outputs: 2}, prize: {loss: mse}}"}) {
    EXPECT_THAT(Predictor::Open(directory_ / "run", {changed}),
                FailsWith(StatusCode::kFailedPrecondition, "price (1 output), sign (2 outputs)"));
  }
  STOKER_EXPECT_OK(Predictor::Open(directory_ / "run", {"train.target.sign.metrics=[auc]"}));
}

TEST_F(OutputsTest, LossesOfTargetsAddUpAlsoWhereClassesHaveWeights) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      Train("run",
            {"train.max_steps=20", "train.target.sign.loss={cross_entropy: {weights: [1, 9]}}"}));
  const Evaluation& evaluation = *summary.last_evaluation;
  EXPECT_NEAR(evaluation.loss,
              .5 * evaluation.metrics["price.loss"].get<double>() +
                  evaluation.metrics["sign.loss"].get<double>(),
              1e-9);
}

TEST_F(OutputsTest, AFigureOfOneTargetMayBeFollowed) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      Train("run", {"train.checkpoint.best=price.rmse",
                    "train.early_stopping={metric: sign.accuracy, patience: 20}"}));
  EXPECT_TRUE(summary.last_evaluation.has_value());
}

TEST_F(OutputsTest, AllKindsOfStepsTakeThem) {
  STOKER_ASSERT_OK(Train(
      "again", {"train.overfit_batches=2", "train.tune=auto", "train.callbacks=[noise_scale]"}));
  STOKER_ASSERT_OK(Train("accumulate", {"train.accumulate=3"}));
  STOKER_ASSERT_OK(Train(
      "balanced", {"train.target.sign={outputs: 2, loss: {cross_entropy: {weights: balanced}}}"}));
}

TEST_F(OutputsTest, WhatDoesNotFitIsNamedWithItsTarget) {
  const auto fails = [&](const std::vector<std::string>& set, auto message) {
    const auto summary = Train("bad", set);
    ASSERT_FALSE(summary.ok());
    EXPECT_THAT(summary.status().message(), message);
  };
  fails({"model.mlp.classes=2"},
        AllOf(HasSubstr("take 3 outputs (1 for 'price' + 2 for 'sign'), and the model has 2"),
              HasSubstr("set its `classes` to 3")));
  fails({"train.target.price={loss: cross_entropy}"},
        AllOf(HasSubstr("the losses of train.target"), HasSubstr("target 'price': ")));
  fails({"train.target.price={loss: mse, metrics: [f1]}"},
        HasSubstr("train.target.price.metrics: 'f1' is not defined for numbers"));
  fails({"train.target.cost={loss: mse}", "model.mlp.classes=4"}, HasSubstr("'cost'"));
  fails({"train.checkpoint.best=accuracy"}, HasSubstr("there are several targets"));
  fails({"train.checkpoint.best=price.accuracy"}, HasSubstr("this target has numbers"));
  fails({"train.checkpoint.best=price.mae"}, HasSubstr("did you mean 'price."));
  fails({"train.loss=mse"}, HasSubstr("each of several has its own"));
}

TEST_F(OutputsTest, AWrongValueIsNamedWithItsTargetAndSample) {
  std::string rows = Rows(320, 1);
  const size_t end = rows.find('\n', rows.find('\n') + 1);
  rows.replace(rows.rfind(',', end) + 1, end - rows.rfind(',', end) - 1, "nan");
  WriteFileForTest(directory_ / "train.csv", rows);
  EXPECT_THAT(Train("run", {"train.target.price={loss: mse}"}),
              FailsWith(StatusCode::kOutOfRange, "target 'price': "));
}

}  // namespace stoker::trainer_outputs_test
