// Whole runs on the columns of CSV files whose targets are numbers, labels, or shares of classes.
#include <cmath>

#include "stoker/base/random.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/predict/predictor.h"

namespace stoker::trainer_targets_test {

// y = 2 a - b + c / 2 + 3 of a, b, c in [-1, 1); low: whether y is below 3; odd: whether b > c;
// class: 0, 1 or 2 by y.
std::string Rows(int64_t count, uint64_t seed) {
  std::string text = "a,b,c,y,low,odd,class\n";
  for (int64_t i = 0; i < count; ++i) {
    Rng rng(seed, 0, static_cast<uint64_t>(i), 0);
    const auto draw = [&] { return static_cast<double>(rng.Below(2000)) / 1000 - 1; };
    const double a = draw(), b = draw(), c = draw(), y = 2 * a - b + c / 2 + 3;
    text += fmt::format("{:.3f},{:.3f},{:.3f},{:.4f},{},{},{}\n", a, b, c, y, y < 3 ? 1 : 0,
                        b > c ? 1 : 0,
                        y < 2   ? 0
                        : y < 4 ? 1
                                : 2);
  }
  return text;
}

// 120 rows to train on in batches of 16, the last of an epoch ragged; 40 to evaluate on.
constexpr const char* kRecipe = R"(
data:
  root: .
  train:
    - csv: {files: train.csv, fields: {x: {columns: a-c}, y: float32, both: {columns: [low, odd]},
                                       class: int64}}
    - shuffle
    - normalize: {field: x, mean: [0, 0, 0], std: [0.6, 0.6, 0.6]}
    - batch: {size: 16}
  eval:
    - csv: {files: eval.csv, fields: {x: {columns: a-c}, y: float32, both: {columns: [low, odd]},
                                      class: int64}}
    - normalize: {field: x, mean: [0, 0, 0], std: [0.6, 0.6, 0.6]}
    - batch: {size: 16}
model: {mlp: {classes: 1, hidden: [16]}}
train:
  input: x
  target: y
  loss: mse
  metrics: [mse, mae]
  epochs: 20
  device: cpu
  threads: 1
  accumulate: 3
  schedule: {one_cycle: {max_lr: 0.03}}
)";
const std::vector<std::string> kLabels = {"train.target=both", "train.loss=bce",
                                          "train.metrics=[auc, f1]", "model.mlp.classes=2"};
const std::vector<std::string> kClasses = {"train.target=class", "train.loss=cross_entropy",
                                           "train.metrics=[top2, mse]", "model.mlp.classes=3"};

class TargetsTest : public testing::Test {
 protected:
  TargetsTest() {
    WriteFileForTest(directory_ / "train.csv", Rows(120, 1));
    WriteFileForTest(directory_ / "eval.csv", Rows(40, 2));
    WriteFileForTest(directory_ / "recipe.yaml", OnTestDevice(kRecipe));
  }
  Result<TrainSummary> Train(const std::string& run, const std::vector<std::string>& set = {},
                             Watcher* watcher = nullptr) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(directory_ / "recipe.yaml", set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Create(std::move(recipe), directory_ / run));
    return watcher == nullptr ? trainer->Run() : trainer->Run(watcher, &watcher->stop);
  }
  Result<TrainSummary> Resume(const std::string& run, const std::vector<std::string>& set) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(directory_ / "recipe.yaml", set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Resume(std::move(recipe), directory_ / run));
    return trainer->Run();
  }
  // Puts `text` into the first column of the targets in row `row`, from 0, of a file.
  void SetTarget(const char* file, int64_t row, const std::string& text) {
    std::istringstream in(ReadFileForTest(directory_ / file));
    std::string out, line;
    for (int64_t i = -1; std::getline(in, line); ++i) {
      if (i == row) {
        size_t at = 0;
        for (int comma = 0; comma < 3; ++comma) at = line.find(',', at) + 1;
        line.replace(at, line.find(',', at) - at, text);
      }
      out += line + "\n";
    }
    WriteFileForTest(directory_ / file, out);
  }

  TempDir directory_;
};

TEST_F(TargetsTest, ARegressionGetsFarBelowTheVarianceAndHasNoAccuracy) {
  Watcher watcher;
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run", {}, &watcher));
  ASSERT_TRUE(summary.last_evaluation.has_value());
  const Evaluation& last = *summary.last_evaluation;
  EXPECT_LT(last.loss, .25);  // the variance is (4 + 1 + 1/4) / 3 = 1.75
  EXPECT_NEAR(last.metrics["mse"].get<double>(), last.loss, 1e-6);
  EXPECT_LE(last.metrics["mae"].get<double>(), std::sqrt(last.loss));
  EXPECT_EQ(last.accuracy, std::nullopt);
  EXPECT_TRUE(summary.ToJson()["best_accuracy"].is_null());
  EXPECT_FALSE(summary.ToJson()["last_evaluation"].contains("accuracy"));
  const RunPaths paths{directory_ / "run"};
  EXPECT_THAT(ReadFileForTest(paths.metrics()), testing::Not(testing::HasSubstr("accuracy")));
  EXPECT_THAT(ReadFileForTest(paths.log()), testing::Not(testing::HasSubstr("accuracy")));
  // The best is that of the lowest loss.
  double lowest = std::numeric_limits<double>::infinity();
  for (const EvaluateEvent& event : watcher.evaluations) {
    EXPECT_EQ(event.best, event.evaluation.loss < lowest);
    lowest = std::min(lowest, event.evaluation.loss);
  }
  EXPECT_EQ(summary.best_loss, lowest);
}

TEST_F(TargetsTest, SeveralLabelsASampleAreLearntEachByItself) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run", kLabels));
  ASSERT_TRUE(summary.last_evaluation->accuracy.has_value());
  EXPECT_GT(*summary.last_evaluation->accuracy, .85);
  const Json& metrics = summary.last_evaluation->metrics;
  EXPECT_EQ(metrics["auc_of_classes"].size(), 2u);
  EXPECT_GT(metrics["auc"].get<double>(), .95);
  EXPECT_GT(metrics["f1"].get<double>(), .8);
}

TEST_F(TargetsTest, AResumedRunEndsWithTheSameBytes) {
  for (const std::vector<std::string>& set : {std::vector<std::string>{}, kLabels}) {
    const std::string name = set.empty() ? "numbers" : "labels";
    STOKER_ASSERT_OK(Train(name, set));
    Watcher watcher;
    watcher.stop_after = 25;  // in the middle of an epoch of 3 steps
    STOKER_ASSERT_OK(Train(name + "-resumed", set, &watcher));
    STOKER_ASSERT_OK(Resume(name + "-resumed", set));
    EXPECT_EQ(ReadFileForTest(RunPaths{directory_ / name}.weights()),
              ReadFileForTest(RunPaths{directory_ / (name + "-resumed")}.weights()));
  }
}

// mixup makes shares of classes of the labels to train on; evaluations have the classes.
TEST_F(TargetsTest, MixedSamplesAreTrainedOnByTheirSharesAndEvaluatedByTheirClass) {
  std::vector<std::string> set = kClasses;
  set.push_back(
      "data.train=[{csv: {files: train.csv, fields: {x: {columns: a-c}, class: int64}}}, shuffle, "
      "{normalize: {field: x, mean: [0, 0, 0], std: [0.6, 0.6, 0.6]}}, {one_hot: {classes: 3, "
      "field: class}}, {batch: {size: 16}}, {mixup: {field: x, label: class}}]");
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run", set));
  EXPECT_GT(summary.last_evaluation->accuracy, .8);
}

TEST_F(TargetsTest, PredictionsAreWhatTheTargetsAre) {
  const Array samples = Array::Of<float>(std::vector<float>{.5f, -.5f, 0, -.5f, .5f, 0}, {2, 3});
  STOKER_ASSERT_OK(Train("numbers"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto numbers, Predictor::Open(directory_ / "numbers"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto said, numbers->Predict(samples));
  ASSERT_EQ(said.size(), 2u);
  ASSERT_EQ(said[0].scores.size(), 1u);
  EXPECT_NEAR(said[0].scores[0], 4.5, .7);
  EXPECT_NEAR(said[1].scores[0], 1.5, .7);
  EXPECT_TRUE(said[0].probabilities.empty());
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation evaluation, numbers->EvaluateRun());
  EXPECT_EQ(evaluation.accuracy, std::nullopt);

  // Where training has not finished its checkpoint says it.
  Watcher watcher;
  watcher.stop_after = 45;
  STOKER_ASSERT_OK(Train("labels", kLabels, &watcher));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto labels, Predictor::Open(directory_ / "labels"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto held, labels->Predict(samples));
  EXPECT_TRUE(held[0].labels);
  ASSERT_EQ(held[1].probabilities.size(), 2u);  // y = 1.5 is low, and b > c
  EXPECT_GT(held[1].probabilities[0], .5);
  EXPECT_GT(held[1].probabilities[1], .5);
  EXPECT_LT(held[0].probabilities[0], .5);
  EXPECT_LT(held[0].probabilities[1], .5);
}

struct Refusal {
  std::vector<std::string> set;
  const char* says;
};
TEST_F(TargetsTest, WhatDoesNotGoTogetherIsRefusedBeforeAnythingIsWritten) {
  const Refusal refusals[] = {
      {{"train.loss=cross_entropy", "train.metrics=[]"},
       "cannot be computed for the targets of data.train, y: float32[?], beside the 1 output of "
       "the model mlp ("},
      {{"train.loss=focal", "train.metrics=[]"}, "it takes class numbers"},
      {{"model.mlp.classes=3"}, "set the model's `classes` to 1"},
      {{"train.target=both"}, "both: float32[?, 2] has 2 a sample, and the model 1 output"},
      {{"train.metrics=[mae, top5]"},
       "'top5' is not defined for numbers, the targets of evaluations"},
      {{"train.checkpoint.best=accuracy"}, "train.checkpoint.best is accuracy"},
      {{"train.early_stopping={metric: accuracy, patience: 2}"},
       "train.early_stopping.metric is accuracy"},
      {{"train.early_stopping={metric: accuracy, goal: 1}"},
       "train.early_stopping.metric is accuracy"},
      {{"train.schedule={plateau: {monitor: accuracy}}"}, "train.schedule's monitor is accuracy"},
      {{"train.target=both", "model.mlp.classes=2", "train.loss=bce", "train.metrics=[confusion]"},
       "'confusion' is not defined for labels, the targets of evaluations"},
      {{"train.loss=bce"}, "bce takes numbers from 0 to 1"},
  };
  for (const auto& [set, says] : refusals) {
    SCOPED_TRACE(says);
    const Result<TrainSummary> result = Train("run", set);
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.status().message(), testing::HasSubstr(says));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
  }
  // A refusal of the loss says where in the recipe it stands.
  EXPECT_THAT(
      Train("run", {"model.mlp.classes=3"}),
      FailsWith(StatusCode::kInvalidArgument, "the loss mse (" + (directory_ / "recipe.yaml")));
}

TEST_F(TargetsTest, EvaluationTargetsThatTheLossDoesNotTakeAreRefusedTooWithTheirField) {
  EXPECT_THAT(
      Train("run", {"data.eval=[{csv: {files: eval.csv, fields: {x: {columns: a-c}, y: {columns: "
                    "[low, odd]}}}}, {batch: {size: 16}}]"}),
      FailsWith(StatusCode::kInvalidArgument,
                "the targets of data.eval, y: float32[?, 2], beside"));
}

TEST_F(TargetsTest, ATargetThatIsNoNumberIsNamedWithItsSampleAndEndsTheRun) {
  SetTarget("train.csv", 77, "nan");
  Watcher watcher;
  const Result<TrainSummary> result = Train("run", {"train.on_nonfinite=skip"}, &watcher);
  EXPECT_THAT(result, testing::AllOf(
                          FailsWith(StatusCode::kOutOfRange, "train.csv: record 77 (line 79, byte"),
                          FailsWith(StatusCode::kOutOfRange,
                                    "has the target nan, but a target must be finite")));
  EXPECT_LT(watcher.steps, 3);  // it comes in the first epoch
}

TEST_F(TargetsTest, SoIsOneOfEvaluationDataBeforeTheFirstStep) {
  SetTarget("eval.csv", 7, "inf");
  Watcher watcher;
  EXPECT_THAT(Train("run", {}, &watcher),
              testing::AllOf(FailsWith(StatusCode::kOutOfRange, "eval.csv: record 7 (line 9, byte"),
                             FailsWith(StatusCode::kOutOfRange, "has the target inf")));
  EXPECT_EQ(watcher.steps, 0);
}

TEST_F(TargetsTest, ALabelOutsideItsRangeIsNamedWithItsSample) {
  WriteFileForTest(directory_ / "train.csv", Rows(120, 1) + "0,0,0,3,0,2,1\n");
  EXPECT_THAT(
      Train("run", kLabels),
      testing::AllOf(
          FailsWith(StatusCode::kOutOfRange, "train.csv: record 120 (line 122, byte"),
          FailsWith(StatusCode::kOutOfRange,
                    "has the target [0, 2], but bce takes numbers from 0 to 1; correct the data")));
}

}  // namespace stoker::trainer_targets_test
