// Whole runs of a model of several inputs: rows of numbers and sequences of tokens.
#include "stoker/base/random.h"
#include "stoker/train/check/model_lint.h"
#include "stoker/train/loop/trainer_testing.h"
#include "stoker/train/predict/predictor.h"

namespace stoker::trainer_inputs_test {

using testing::AllOf;
using testing::HasSubstr;

// The class is 1 where the sign of the row and the token agree, so neither alone tells it.
std::string Rows(int64_t count, uint64_t seed) {
  std::string text = "a,b,t,u,class\n";
  for (int64_t i = 0; i < count; ++i) {
    Rng rng(seed, 0, static_cast<uint64_t>(i), 0);
    const double a = static_cast<double>(rng.Below(1000)) / 1000 + .2;
    const bool positive = rng.Below(2) == 1, first = rng.Below(2) == 1;
    text += fmt::format("{:.3f},{:.3f},{},{},{}\n", positive ? a : -a,
                        static_cast<double>(rng.Below(1000)) / 1000 - .5, first ? 1 : 2,
                        3 + rng.Below(5), positive == first ? 1 : 0);
  }
  return text;
}

constexpr const char* kRecipe = R"(
data:
  root: .
  train:
    - csv: {files: train.csv, fields: {x: {columns: [a, b]}, words: {columns: [t, u], type: int64},
                                       class: int64}}
    - shuffle
    - batch: {size: 16}
  eval:
    - csv: {files: eval.csv, fields: {x: {columns: [a, b]}, words: {columns: [t, u], type: int64},
                                      class: int64}}
    - batch: {size: 16}
model:
  joined:
    towers:
      row: {mlp: {classes: 8, hidden: [8]}}
      text: {embedding_bag: {classes: 8, tokens: 9, width: 8}}
    classes: 2
    hidden: [16]
train:
  input: {row: x, text: words}
  target: class
  metrics: [f1]
  epochs: 12
  device: cpu
  threads: 1
  schedule: {one_cycle: {max_lr: 0.05}}
)";

class InputsTest : public testing::Test {
 protected:
  InputsTest() {
    WriteFileForTest(directory_ / "train.csv", Rows(160, 1));
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

TEST_F(InputsTest, BothAreNeededAndLearntFrom) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run"));
  EXPECT_GT(*summary.last_evaluation->accuracy, .95);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary alone,
      Train("alone",
            {"train.input={row: x}",
             "model={joined: {towers: {row: {mlp: {classes: 8, hidden: [8]}}}, classes: 2}}"}));
  EXPECT_LT(*alone.last_evaluation->accuracy, .75);
}

TEST_F(InputsTest, AResumedRunEndsWithTheSameBytes) {
  STOKER_ASSERT_OK(Train("whole"));
  Watcher watcher;
  watcher.stop_after = 47;
  STOKER_ASSERT_OK(Train("cut", {}, &watcher));
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe recipe, Load());
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Resume(std::move(recipe), directory_ / "cut"));
  STOKER_ASSERT_OK(trainer->Run());
  EXPECT_EQ(WeightsOf("whole"), WeightsOf("cut"));
}

TEST_F(InputsTest, ARunPredictsItsDataAndSaysWhyNotFiles) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary, Train("run"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto predictor, Predictor::Open(directory_ / "run"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Evaluation evaluation, predictor->EvaluateRun());
  EXPECT_EQ(evaluation.loss, summary.last_evaluation->loss);
  int64_t right = 0;
  STOKER_ASSERT_OK(predictor->PredictRun({.fields = {"class"}}, [&](const PredictedBatch& batch) {
    for (size_t i = 0; i < batch.predictions.size(); ++i)
      right += batch.predictions[i].best == batch.fields[0].values<int64_t>()[i];
    return OkStatus();
  }));
  EXPECT_EQ(static_cast<double>(right) / 64, *evaluation.accuracy);
  EXPECT_THAT(predictor->Predict(Array::Of<float>(std::vector<float>{1, 2}, {1, 2})),
              FailsWith(StatusCode::kFailedPrecondition, "the model takes 2 inputs (train.input)"));
  const RunPaths paths{directory_ / "run"};
  EXPECT_THAT(ReadFileForTest(paths.recipe()), HasSubstr("input: {row: x, text: words}"));
}

TEST_F(InputsTest, WhatDoesNotFitIsNamedWithItsInput) {
  const auto fails = [&](const std::vector<std::string>& set, auto message) {
    const auto summary = Train("bad", set);
    ASSERT_FALSE(summary.ok());
    EXPECT_THAT(summary.status().message(), message);
  };
  fails({"train.input={row: x, text: word}"},
        AllOf(HasSubstr("train.input.text"), HasSubstr("'word'")));
  fails({"train.input={row: x, word: words}"},
        HasSubstr("its towers are row, text, and train.input names row, word"));
  fails({"train.input={row: words, text: x}"},
        AllOf(HasSubstr("building the tower row: mlp takes numbers"),
              HasSubstr("building the tower text: embedding_bag takes sequences")));
  fails({"train.input=x"}, HasSubstr("joined takes several inputs"));
  fails({"model={mlp: {classes: 2}}"}, HasSubstr("mlp takes one input, and train.input names 2"));
}

TEST_F(InputsTest, ATokenThatATowerDoesNotKnowIsNamedWithItsSample) {
  std::string rows = Rows(160, 1);
  const size_t third = rows.find('\n', rows.find('\n', rows.find('\n') + 1) + 1);
  const size_t comma = rows.rfind(',', third);
  rows.replace(rows.rfind(',', comma - 1) + 1, 1, "9");
  WriteFileForTest(directory_ / "train.csv", rows);
  EXPECT_THAT(Train("run"), FailsWith(StatusCode::kOutOfRange, "reading train.input.text: "));
}

TEST_F(InputsTest, LintLooksAtEachInput) {
  // A price that is far from 0 is no good input, whichever it is.
  std::string rows = "a,b,t,u,class\n";
  for (int i = 0; i < 32; ++i)
    rows += fmt::format("0.{},{},{},{},{}\n", i % 7, 900 + i, 1, 2, i % 2);
  for (const char* const file : {"train.csv", "eval.csv"})
    WriteFileForTest(directory_ / file, rows);
  const std::string fields = "{x: {columns: [a, t]}, words: {columns: [b, u]}, class: int64}";
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Recipe recipe,
      Load({"data.train.0.csv.fields=" + fields, "data.eval.0.csv.fields=" + fields,
            "model.joined.towers.text={mlp: {classes: 8}}"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto findings, LintRecipe(recipe));
  EXPECT_TRUE(std::ranges::any_of(findings, [](const LintFinding& finding) {
    return finding.rule == "inputs" && finding.ToText().find("field: words") != std::string::npos;
  }));
}

TEST_F(InputsTest, TheirOrderInTheRecipeIsNoChange) {
  const std::string turned = "train.input={text: words, row: x}";
  STOKER_ASSERT_OK(Train("whole"));
  STOKER_ASSERT_OK(Train("turned", {turned}));
  EXPECT_EQ(WeightsOf("whole"), WeightsOf("turned"));
  Watcher watcher;
  watcher.stop_after = 47;
  STOKER_ASSERT_OK(Train("cut", {}, &watcher));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto trainer,
                              Trainer::Resume(*Load({turned}), directory_ / "cut"));
  STOKER_ASSERT_OK(trainer->Run());
  EXPECT_EQ(WeightsOf("whole"), WeightsOf("cut"));
}

TEST_F(InputsTest, AFieldThatIsTwoInputsIsNormalisedForBothWhereverThatIsDone) {
  const std::string stages =
      "{{csv: {{files: {}, fields: {{x: {{columns: [a, b], type: uint8}}, class: int64}}}}}}, "
      "{{normalize: {{field: x, mean: 0.5, std: 0.5}}}}, {{batch: 16}}";
  const std::vector<std::string> same = {
      fmt::format(fmt::runtime("data.train=[" + stages + "]"), "train.csv"),
      fmt::format(fmt::runtime("data.eval=[" + stages + "]"), "eval.csv"),
      "train.input={row: x, text: x}", "model.joined.towers.text={mlp: {classes: 8}}"};
  std::string rows = "a,b,t,u,class\n";
  for (int i = 0; i < 64; ++i) rows += fmt::format("{},{},1,2,{}\n", i * 3, 255 - i, i % 2);
  for (const char* const file : {"train.csv", "eval.csv"})
    WriteFileForTest(directory_ / file, rows);
  for (const char* const where : {"host", "device"}) {
    std::vector<std::string> set = same;
    set.push_back(fmt::format("train.normalize_on={}", where));
    STOKER_ASSERT_OK(Train(where, set));
  }
  EXPECT_EQ(WeightsOf("host"), WeightsOf("device"));
}

TEST_F(InputsTest, AValueThatIsNotFiniteInAnyInputIsNamedWithItsSample) {
  std::string rows = Rows(160, 1);
  rows.replace(rows.find('\n') + 1, 5, "nan,1");
  WriteFileForTest(directory_ / "train.csv", rows);
  EXPECT_THAT(Train("run", {"train.input={text: words, row: x}"}),
              FailsWith(StatusCode::kDataLoss, "train.csv"));
}

TEST_F(InputsTest, AValueThatIsNotFiniteIsNamedWithItsInputInTheMiddleOfARun) {
  std::string rows = Rows(160, 1);
  const size_t last = rows.rfind('\n', rows.size() - 2) + 1;
  rows.replace(last, rows.find(',', last) - last, "nan");
  WriteFileForTest(directory_ / "train.csv", rows);
  EXPECT_THAT(Train("run", {"data.train.1=shuffle: {buffer: 1}", "train.sanity=false"}),
              FailsWith(StatusCode::kFailedPrecondition, "(train.input.row) in sample 159"));
}

TEST_F(InputsTest, BatchesThatAreRepeatedAndStepsThatAreTimedHaveAllInputs) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary,
                              Train("run", {"train.overfit_batches=2", "train.epochs=30"}));
  EXPECT_LT(summary.last_evaluation->loss, 5);
  STOKER_ASSERT_OK(Train("tuned", {"train.tune=auto", "train.callbacks=[noise_scale]"}));
}

}  // namespace stoker::trainer_inputs_test
