// Recipes whose stages learn from the training data.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/data/core/runtime.h"
#include "stoker/data/learn/learn.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"

namespace stoker::learned_recipe_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

class LearnedRecipe : public testing::Test {
 protected:
  // Ten rows of eight bytes, of which the second four are ten times the first, and a word.
  void SetUp() override {
    std::string text;
    for (int row = 0; row < 10; ++row) {
      for (int i = 0; i < 8; ++i) text += fmt::format("{},", (row + i % 4) * (i < 4 ? 1 : 10));
      text += row % 3 == 0 ? "oak\n" : "ash\n";
    }
    WriteBelow(dir_, "rows.csv", text);
  }

  ConfigNode Recipe(const std::string& stages) const {
    return *ParseYaml(
        "data:\n"
        "  source: [csv: {files: rows.csv, header: no, index: memory, fields: {image: {columns: "
        "0-7, type: uint8, shape: [2, 2, 2]}, label: {columns: 8, type: text}}}]\n"
        "  train: [" +
            stages +
            ", batch: 2]\n"
            "  eval: [" +
            stages + ", batch: 2]\n",
        "r.yaml");
  }
  Result<DataRecipe> Parse(const std::string& stages) const {
    return ParseDataSection(Recipe(stages), dir_.path());
  }
  static std::vector<double> Numbers(const DataRecipe& data, const char* option) {
    return data.learned->values[0].options[option].get<std::vector<double>>();
  }

  const TempDir dir_;
};

TEST_F(LearnedRecipe, WordsOfTextsAreLearnedAsTheStageSplitsThem) {
  WriteBelow(dir_, "texts.csv", "The cat\nthe DOG the\ncat,\nbird\n");
  const auto parse = [&](const std::string& options) {
    return ParseDataSection(
        *ParseYaml("data: {train: [csv: {files: texts.csv, header: no, delimiter: ';', fields: "
                   "{text: {columns: 0, type: text}}}, words: {" +
                       options + "}, padded_batch: 4]}",
                   "r.yaml"),
        dir_.path());
  };
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      parse("values: auto, lower: true, pattern: '\\w+', limit: 2, unknown: '?', reserve: 1"));
  ASSERT_NE(data.learned, nullptr);
  EXPECT_THAT(data.learned->values[0].options["values"], ElementsAre("the", "cat"));
  EXPECT_EQ(data.learned->values[0].facts["different"], 4);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, data.train.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, pass->Next());
  const auto tokens = batch->arrays[0].values<int32_t>();
  EXPECT_THAT(std::vector<int32_t>(tokens.begin(), tokens.end()),
              ElementsAre(2, 3, 0, 2, 1, 2, 3, 0, 0, 1, 0, 0));
  EXPECT_THAT(parse("values: auto, limit: 2"),
              FailsWith(StatusCode::kInvalidArgument, "which token stands for them"));
  EXPECT_THAT(parse("values: auto, vocabulary: w.txt"),
              FailsWith(StatusCode::kInvalidArgument, "are both given"));
}

// The mean of row + i over rows 0..9 and i 0..3 is 6, its variance 8.25 + 1.25.
TEST_F(LearnedRecipe, ChannelsOfPicturesHaveMomentsOfTheirOwnAfterScaling) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, Parse("lookup: auto, normalize: auto"));
  ASSERT_NE(data.learned, nullptr);
  const LearnedValue& moments = data.learned->values[1];
  const auto means = moments.options["mean"].get<std::vector<double>>();
  EXPECT_THAT(means, ElementsAre(DoubleNear(6.0 / 255, 1e-12), DoubleNear(60.0 / 255, 1e-12)));
  const auto deviations = moments.options["std"].get<std::vector<double>>();
  const double deviation = std::sqrt(9.5) / 255;
  EXPECT_THAT(deviations,
              ElementsAre(DoubleNear(deviation, 1e-12), DoubleNear(10 * deviation, 1e-12)));
  EXPECT_THAT(data.learned->values[0].options["values"], ElementsAre("ash", "oak"));
  EXPECT_EQ(data.classes, (std::vector<std::string>{"ash", "oak"}));
  EXPECT_EQ(data.learned->from["samples"], 10);
}

TEST_F(LearnedRecipe, AFieldMayHaveOneMeanForAllItsValues) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("normalize: {mean: auto, per: field, scale: 1}, lookup: auto"));
  EXPECT_THAT(Numbers(data, "mean"), ElementsAre(DoubleNear(33, 1e-12)));
  // The moments of two parts of 40 values: 9.5 and 950, 54 apart.
  EXPECT_THAT(Numbers(data, "std"), ElementsAre(DoubleNear(std::sqrt(479.75 + 729), 1e-9)));
}

TEST_F(LearnedRecipe, EachExtentOfTheLastDimensionMayHaveAMeanOfItsOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("normalize: {mean: auto, per: last, scale: 1}, lookup: auto"));
  EXPECT_THAT(Numbers(data, "mean"),
              ElementsAre(DoubleNear(30.25, 1e-12), DoubleNear(35.75, 1e-12)));
  EXPECT_THAT(Numbers(data, "std"), ElementsAre(DoubleNear(std::sqrt(1079.6875), 1e-9),
                                                DoubleNear(std::sqrt(1322.6875), 1e-9)));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, data.train.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, pass->Next());
  // The first row's: 0, 1, 2, 3, 0, 10, 20, 30.
  const auto values = batch->arrays[0].values<float>();
  EXPECT_NEAR(values[0], -30.25 / std::sqrt(1079.6875), 1e-6);
  EXPECT_NEAR(values[7], (30 - 35.75) / std::sqrt(1322.6875), 1e-6);
}

TEST_F(LearnedRecipe, SequencesOfDifferingLengthsHaveAMeanForEachNumberOfAStep) {
  WriteBelow(dir_, "paths.jsonl",
             "{\"path\": [[1, 10], [2, 20], [3, 30]]}\n{\"path\": []}\n{\"path\": [[6, 60]]}\n");
  const auto parse = [&](const std::string& per) {
    return ParseDataSection(
        *ParseYaml("data: {train: [jsonl: {files: paths.jsonl, fields: {path: {shape: [-1, 2]}}}, "
                   "normalize: {field: path, mean: auto" +
                       per + "}, batch: {size: 3, ragged: true}]}",
                   "r.yaml"),
        dir_.path());
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, parse(", per: last"));
  EXPECT_THAT(Numbers(data, "mean"), ElementsAre(DoubleNear(3, 1e-12), DoubleNear(30, 1e-12)));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, data.train.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batch, pass->Next());
  const auto values = batch->arrays[0].values<float>();
  ASSERT_EQ(values.size(), 8u);
  for (size_t step = 0; step < 4; ++step)
    EXPECT_FLOAT_EQ(values[2 * step], values[2 * step + 1]) << step;
  EXPECT_THAT(parse(""), FailsWith(StatusCode::kInvalidArgument,
                                   "say `per: last` for a mean of each number of a step, or "));
}

TEST_F(LearnedRecipe, TheFilledSectionHasTheValuesAndTheStoredOneTheWord) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, Parse("normalize: auto, lookup: auto"));
  EXPECT_THAT(ToYaml(data.unlearned), HasSubstr("mean: auto"));
  EXPECT_THAT(ToYaml(data.unlearned), HasSubstr("values: auto"));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe again,
      ParseDataSection(ConfigNode::Map({{"data", {}, data.filled}}), dir_.path()));
  EXPECT_EQ(again.learned, nullptr);
  EXPECT_EQ(again.train.ToString(), data.train.ToString());
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset eval, ParseEvalPipeline(Recipe("normalize: auto, lookup: auto"), dir_.path()));
  EXPECT_EQ(eval.ToString(), data.eval->ToString());
}

TEST_F(LearnedRecipe, AStageThatFollowsOneThatChangesItsFieldLearnsInAPassOfItsOwn) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("normalize: auto, normalize: auto, lookup: auto"));
  ASSERT_EQ(data.learned->values.size(), 3u);
  const LearnedValue* second = data.learned->Find("normalize", "image", 2);
  ASSERT_NE(second, nullptr);
  for (const double mean : second->options["mean"].get<std::vector<double>>())
    EXPECT_NEAR(mean, 0, 1e-6);
  for (const double deviation : second->options["std"].get<std::vector<double>>())
    EXPECT_NEAR(deviation, 1, 1e-6);
}

TEST_F(LearnedRecipe, ClassesHaveBalancedWeightsOnceTheirWordsAreNumbered) {
  const TrainingRequest request{.stage = kClassWeightsRequest, .field = "label", .place = {}};
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              ParseDataSection(Recipe("lookup: auto, normalize: auto"), dir_.path(),
                                               std::span(&request, 1)));
  const LearnedValue* const weights = data.learned->Find("train.loss", "label", 1);
  ASSERT_NE(weights, nullptr);
  // Six times ash, four times oak: samples / (classes * samples of the class).
  EXPECT_THAT(weights->options["weights"], ElementsAre(10.0 / 12, 10.0 / 8));
  EXPECT_THAT(weights->facts["samples"], ElementsAre(6, 4));
  EXPECT_EQ(ToYaml(data.unlearned).find("train.loss"), std::string::npos);
}

TEST_F(LearnedRecipe, TheTargetIsLearnedWithTheStagesAndOfItsLogarithm) {
  std::string text;
  for (const int row : {1, 2, 4, 8}) text += fmt::format("{},{},oak\n", row, 10 * row);
  WriteBelow(dir_, "prices.csv", text);
  const auto parsed = [&](std::string_view stage) {
    const TrainingRequest request{.stage = stage, .field = "price", .place = {}};
    return ParseDataSection(
        *ParseYaml("data: {train: [csv: {files: prices.csv, header: no, fields: {image: {columns: "
                   "0, type: float32}, price: {columns: 1, type: int32}}}, normalize: auto, batch: "
                   "2]}\n",
                   "r.yaml"),
        dir_.path(), std::span(&request, 1));
  };
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, parsed(kTargetRequest));
  const LearnedValue* const plain = data.learned->Find("train.target", "price", 1);
  ASSERT_NE(plain, nullptr);
  EXPECT_THAT(plain->options["mean"], ElementsAre(37.5));
  EXPECT_NEAR(plain->options["std"][0].get<double>(), 10 * std::sqrt(7.1875), 1e-12);
  EXPECT_NE(data.learned->Find("normalize", "image", 1), nullptr);
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe log, parsed(kLogTargetRequest));
  const LearnedValue* const of_log = log.learned->Find("train.target.log", "price", 1);
  ASSERT_NE(of_log, nullptr);
  EXPECT_NEAR(of_log->options["mean"][0].get<double>(), std::log(10) + 1.5 * std::log(2), 1e-6);
  EXPECT_NEAR(of_log->options["std"][0].get<double>(), std::sqrt(1.25) * std::log(2), 1e-6);
}

// Each row is a group's: what an earlier group has learned for `train` is no stage of a later one.
TEST_F(LearnedRecipe, WhatIsLearnedForTrainingDoesNotStandInTheWayOfStagesThatLearnAfterIt) {
  WriteBelow(dir_, "prices.csv", "1,10\n2,20\n4,40\n8,80\n");
  const TrainingRequest request{.stage = kTargetRequest, .field = "price", .place = {}};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      ParseDataSection(
          *ParseYaml(
              "data: {train: [csv: {files: prices.csv, header: no, fields: {image: {columns: "
              "0, type: float32}, price: {columns: 1, type: int32}}}, normalize: auto, "
              "normalize: auto, batch: 2]}\n",
              "r.yaml"),
          dir_.path(), std::span(&request, 1)));
  EXPECT_NE(data.learned->Find("train.target", "price", 1), nullptr);
  EXPECT_NE(data.learned->Find("normalize", "image", 2), nullptr);
}

TEST_F(LearnedRecipe, BucketsHaveEqualCounts) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("bucketize: {bounds: auto, quantiles: 4}, lookup: auto"));
  std::vector<int> values;
  for (int row = 0; row < 10; ++row) {
    for (int i = 0; i < 8; ++i) values.push_back((row + i % 4) * (i < 4 ? 1 : 10));
  }
  std::ranges::sort(values);
  EXPECT_THAT(Numbers(data, "bounds"), ElementsAre(values[20], values[40], values[60]));
  EXPECT_EQ(data.learned->values[0].facts["values"], 80);
}

TEST_F(LearnedRecipe, RareWordsGetTheNumberOfUnknownOnes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("lookup: {values: auto, limit: 1, reserve: 2, unknown: 1}"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches, data.train.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> batch, batches->Next());
  const auto labels = batch->arrays[1].values<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(labels.begin(), labels.end()), ElementsAre(1, 2));
  EXPECT_TRUE(data.classes.empty());
}

TEST_F(LearnedRecipe, WhatCannotLearnIsAnErrorWithItsPlace) {
  for (const auto& [stages, says] : std::initializer_list<std::pair<const char*, const char*>>{
           {"lookup: auto, batch: 2, normalize: auto", "stands after batch"},
           {"lookup: {values: auto, vocabulary: w.txt}", "`vocabulary`"},
           {"normalize: {mean: auto, per_sample: true}", "per_sample"},
           {"lookup: {values: auto, field: image}", "field 'image' is uint8[2, 2, 2]"},
           {"normalize: {mean: auto, field: x}", "there is no field 'x'"},
           {"bucketize: {bounds: auto, field: label}", "number its words with `lookup`"},
           {"bucketize: {bounds: [1], field: label}", "number its words with `lookup`"},
           {"lookup: {values: auto, min_count: 5}", "say with `unknown`"}}) {
    const Status status = Parse(stages).status();
    EXPECT_THAT(status.message(), HasSubstr(says)) << stages;
    EXPECT_THAT(status.message(), HasSubstr("r.yaml:3:")) << stages;
  }
}

}  // namespace stoker::learned_recipe_test
