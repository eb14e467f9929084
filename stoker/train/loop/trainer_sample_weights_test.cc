// Whole runs whose samples have weights of their own (train.sample_weight).
#include "stoker/base/random.h"
#include "stoker/train/check/model_lint.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/predict/predictor.h"

namespace stoker::trainer_sample_weights_test {

// y = 2 a - b of a, b in [-1, 1), and class, whether that is above 0. The rows in which a + b is
// above 0.6 have the weight `weight`, and `lies` adds to their y; the others have 1.
std::string Rows(int64_t count, double weight, double lies) {
  std::string text = "a,b,y,class,w,count\n";
  for (int64_t i = 0; i < count; ++i) {
    Rng rng(/*seed=*/1, 0, static_cast<uint64_t>(i), 0);
    const auto draw = [&] { return static_cast<double>(rng.Below(2000)) / 1000 - 1; };
    const double a = draw(), b = draw();
    const bool doubtful = a + b > .6;
    const double y = 2 * a - b + (doubtful ? lies : 0);
    text += fmt::format("{:.3f},{:.3f},{:.4f},{},{},{}\n", a, b, y, y > 0 ? 1 : 0,
                        doubtful ? weight : 1, doubtful ? 2 : 1);
  }
  return text;
}

constexpr const char* kRecipe = R"(
data:
  root: .
  source:
    - csv: {files: rows.csv, fields: {x: {columns: [a, b]}, y: float32, class: int64, w: float32,
                                      count: int64}}
  train: [shuffle, {batch: {size: 16}}]
  eval: [{batch: {size: 64}}]
model: {mlp: {classes: 1, hidden: [8]}}
train:
  input: x
  target: y
  loss: mse
  epochs: 4
  device: cpu
  threads: 1
  tune: off
  sample_weight: w
  schedule: {constant: {lr: 0.02}}
)";

class SampleWeightsTest : public testing::Test {
 protected:
  void Write(double weight, double lies = 0) {
    WriteFileForTest(directory_ / "rows.csv", Rows(120, weight, lies));
    WriteFileForTest(directory_ / "recipe.yaml", kRecipe);
  }
  Result<TrainSummary> Train(const std::string& run, const std::vector<std::string>& set = {},
                             TrainObserver* observer = nullptr) {
    STOKER_ASSIGN_OR_RETURN(Recipe recipe, LoadRecipe(directory_ / "recipe.yaml", set));
    STOKER_ASSIGN_OR_RETURN(const auto trainer,
                            Trainer::Create(std::move(recipe), directory_ / run));
    return trainer->Run(observer);
  }
  std::string WeightsOf(const std::string& run) const {
    return ReadFileForTest(RunPaths{directory_ / run}.weights());
  }

  TempDir directory_;
};

TEST_F(SampleWeightsTest, SamplesOfNoWeightLeaveNoTraceWhateverTheirTargets) {
  Write(/*weight=*/0);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary truth, Train("truth"));
  Write(/*weight=*/0, /*lies=*/50);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary lies, Train("lies"));
  EXPECT_EQ(WeightsOf("truth"), WeightsOf("lies"));
  EXPECT_EQ(truth.last_evaluation->loss, lies.last_evaluation->loss);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary believed,
                              Train("believed", {"train.sample_weight=none"}));
  EXPECT_NE(WeightsOf("believed"), WeightsOf("lies"));
  EXPECT_GT(believed.last_evaluation->loss, 10 * lies.last_evaluation->loss);
}

TEST_F(SampleWeightsTest, WeightsOfOneAreAsNone) {
  Write(/*weight=*/1);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary ones, Train("ones"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary none, Train("none", {"train.sample_weight=none"}));
  EXPECT_NEAR(ones.last_evaluation->loss, none.last_evaluation->loss, 1e-4);
}

TEST_F(SampleWeightsTest, AnEvaluationHasTheMeanOfTheWeightedLossesAndPlainMetrics) {
  Write(/*weight=*/3);
  STOKER_ASSERT_OK(Train("run", {"train.metrics=[mse]"}));
  const auto evaluate = [&](const std::vector<std::string>& set) -> Result<Evaluation> {
    STOKER_ASSIGN_OR_RETURN(const auto predictor, Predictor::Open(directory_ / "run", set));
    return predictor->EvaluateRun();
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation weighted, evaluate({}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation plain, evaluate({"train.sample_weight=none"}));
  EXPECT_EQ(weighted.metrics, plain.metrics);
  EXPECT_NEAR(plain.metrics["mse"].get<double>(), plain.loss, 1e-6);
  // Of weights 3 and 1 = 1 + 2 times that of the doubtful rows alone, weight 1 beside 0.
  Write(/*weight=*/1);
  const std::string ones = ReadFileForTest(directory_ / "rows.csv");
  std::istringstream in(ones);
  std::string line, alone;
  std::getline(in, line);
  alone = line + "\n";
  while (std::getline(in, line)) {
    const bool doubtful = line.ends_with(",2");
    const size_t comma = line.rfind(",1,");
    alone += line.substr(0, comma) + (doubtful ? ",1," : ",0,") + line.substr(line.rfind(',') + 1) +
             "\n";
  }
  WriteFileForTest(directory_ / "rows.csv", alone);
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation doubtful, evaluate({}));
  EXPECT_NEAR(weighted.loss, plain.loss + 2 * doubtful.loss, 1e-5);
}

TEST_F(SampleWeightsTest, WeightedMetricsCountSamplesByTheirWeightsInEvaluations) {
  Write(/*weight=*/3);
  STOKER_ASSERT_OK(Train("run", {"train.metrics=[mse]", "train.weighted_metrics=true"}));
  const auto evaluate = [&](const std::vector<std::string>& set) -> Result<Evaluation> {
    STOKER_ASSIGN_OR_RETURN(const auto predictor, Predictor::Open(directory_ / "run", set));
    return predictor->EvaluateRun();
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation weighted, evaluate({}));
  // The loss divides by the samples, the metric by their weights.
  std::istringstream in(ReadFileForTest(directory_ / "rows.csv"));
  double weight = 0;
  std::string line;
  std::getline(in, line);
  int64_t samples = 0;
  for (; std::getline(in, line); ++samples) weight += line.ends_with(",2") ? 3 : 1;
  EXPECT_NEAR(weighted.metrics["mse"].get<double>() * weight,
              weighted.loss * static_cast<double>(samples), 1e-3);
  WriteFileForTest(directory_ / "rows.csv", "a,b,y,class,w,count\n1,1,1,1,0,0\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation of_nothing, evaluate({}));
  EXPECT_TRUE(of_nothing.metrics["mse"].is_null());
  EXPECT_EQ(of_nothing.loss, 0);
  // Measured without weights, as docs/targets.md has it.
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation plain, evaluate({"train.sample_weight=none"}));
  EXPECT_TRUE(plain.metrics["mse"].is_number());
}

// The first batch is tried before training, and those of the doubtful rows weigh nothing.
TEST_F(SampleWeightsTest, ABatchOfAnEvaluationMayWeighNothing) {
  Write(/*weight=*/0);
  STOKER_EXPECT_OK(Train("run", {"train.metrics=[mse]", "train.weighted_metrics=true",
                                 "data.eval=[{filter: {field: count, equals: 2}}, {batch: 4}]"}));
}

TEST_F(SampleWeightsTest, LintNamesAFirstBatchInWhichNothingWeighs) {
  Write(/*weight=*/0);
  const auto findings = [&](const std::string& equals) -> Result<std::string> {
    STOKER_ASSIGN_OR_RETURN(
        const Recipe recipe,
        LoadRecipe(directory_ / "recipe.yaml",
                   {"data.train=[{filter: {field: count, equals: " + equals + "}}, {batch: 4}]"}));
    STOKER_ASSIGN_OR_RETURN(const std::vector<LintFinding> found, LintRecipe(recipe));
    std::string texts;
    for (const LintFinding& finding : found) texts += finding.ToText() + "\n";
    return texts;
  };
  EXPECT_THAT(*findings("2"),
              testing::HasSubstr("all 4 samples of the first batch have the weight 0 ('w')"));
  EXPECT_THAT(*findings("1"), testing::Not(testing::HasSubstr("weight 0")));
}

TEST_F(SampleWeightsTest, WholeNumbersAreWeightsTooAndAccumulatedBatchesCountAsOne) {
  Write(/*weight=*/2);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary floats, Train("floats"));
  STOKER_ASSERT_OK(Train("integers", {"train.sample_weight=count"}));
  EXPECT_EQ(WeightsOf("floats"), WeightsOf("integers"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary parts,
                              Train("parts", {"data.train.1.batch.size=4", "train.accumulate=4"}));
  EXPECT_NEAR(parts.last_evaluation->loss, floats.last_evaluation->loss, 1e-4);
}

// The divisor of class weights differs from batch to batch.
TEST_F(SampleWeightsTest, BesideClassWeightsAccumulatedBatchesCountAsOneToo) {
  Write(/*weight=*/2);
  const std::vector<std::string> set = {"train.target=class", "model.mlp.classes=2",
                                        "train.loss={cross_entropy: {weights: [1, 3]}}"};
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary whole, Train("whole", set));
  std::vector<std::string> in_parts = set;
  in_parts.insert(in_parts.end(), {"data.train.1.batch.size=4", "train.accumulate=4"});
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary parts, Train("parts", in_parts));
  EXPECT_NEAR(parts.last_evaluation->loss, whole.last_evaluation->loss, 1e-4);
}

TEST_F(SampleWeightsTest, WeighTheLossesOfSeveralTargets) {
  const std::vector<std::string> several = {
      "train.target={class: {outputs: 2, loss: {cross_entropy: {weights: [1, 3]}}}, y: {loss: mse, "
      "weight: 0.5}}",
      "model.mlp.classes=3"};
  std::string recipe = kRecipe;
  const std::string of_one = "  loss: mse\n";
  recipe.erase(recipe.find(of_one), of_one.size());
  Write(/*weight=*/0);
  WriteFileForTest(directory_ / "recipe.yaml", recipe);
  STOKER_ASSERT_OK(Train("truth", several));
  Write(/*weight=*/0, /*lies=*/50);
  WriteFileForTest(directory_ / "recipe.yaml", recipe);
  STOKER_ASSERT_OK(Train("lies", several));
  EXPECT_EQ(WeightsOf("truth"), WeightsOf("lies"));
}

TEST_F(SampleWeightsTest, AreNotNeededForPredictionsEvenWhereAStageNamesThem) {
  Write(/*weight=*/3);
  STOKER_ASSERT_OK(
      Train("run", {"data.eval=[{cast: {field: w, dtype: float64}}, {batch: {size: 64}}]"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(directory_ / "run"));
  const Array samples = Array::Of<float>(std::vector<float>{.5f, -.5f, 0, -.5f}, {2, 2});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto said, predictor->Predict(samples));
  EXPECT_EQ(said.size(), 2u);
}

TEST_F(SampleWeightsTest, WhatIsNoWeightIsNamedWithItsSampleBeforeTheFirstStep) {
  const struct {
    double weight;
    const char* says;
  } cases[] = {
      {-1, "has the weight -1 (train.sample_weight), but a weight must be from 0 to 1e+30"},
      {NAN, "has the weight nan (train.sample_weight)"},
      {INFINITY, "has the weight inf (train.sample_weight)"},
      {1e31, "has the weight 1e+31 (train.sample_weight)"}};
  for (const auto& [weight, says] : cases) {
    SCOPED_TRACE(says);
    Write(weight);
    Watcher watcher;
    const Result<TrainSummary> result = Train("run", {}, &watcher);
    EXPECT_EQ(watcher.steps, 0);
    EXPECT_THAT(result, FailsWith(StatusCode::kOutOfRange, says));
    EXPECT_THAT(result, FailsWith(StatusCode::kOutOfRange, "rows.csv: record "));
    std::filesystem::remove_all(directory_ / "run");
  }
}

TEST_F(SampleWeightsTest, AFieldThatIsNotOneNumberASampleIsRefused) {
  Write(/*weight=*/1);
  EXPECT_THAT(
      Train("run", {"train.sample_weight=x"}),
      FailsWith(StatusCode::kInvalidArgument,
                "train.sample_weight: field x: float32[?, 2] must have one number a sample"));
  EXPECT_THAT(Train("run", {"train.sample_weight=v"}),
              FailsWith(StatusCode::kInvalidArgument,
                        "set train.sample_weight to the one that holds the weights of samples"));
  EXPECT_THAT(LoadRecipe(directory_ / "recipe.yaml", {"train.sample_weight=y"}),
              FailsWith(StatusCode::kInvalidArgument, "is 'y', which is the target"));
  EXPECT_THAT(LoadRecipe(directory_ / "recipe.yaml",
                         {"data.features={a: numeric, w: numeric}",
                          "data.source.csv.fields={a: float32, w: float32, y: float32}"}),
              FailsWith(StatusCode::kInvalidArgument, "is 'w', of which data.features ("));
  EXPECT_THAT(Train("run", {"data.eval=[{reshape: {field: w, shape: [1]}}, {batch: {size: 64}}]"}),
              FailsWith(StatusCode::kInvalidArgument, "train.sample_weight"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

}  // namespace stoker::trainer_sample_weights_test
