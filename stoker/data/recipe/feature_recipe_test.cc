// Recipes that say with data.features what the columns of a table are to a model.
#include <cmath>
#include <span>

#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/options/feature_columns.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/data_check.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/testing/picture_folder.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/words.h"

namespace stoker::feature_recipe_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FeatureRecipe : public testing::Test {
 protected:
  // size is 0 to 11, its mean 5.5; kind is hut, flat or house; each third note is empty.
  void SetUp() override {
    std::string text = "size,kind,day,note,price\n";
    for (int i = 0; i < 12; ++i) {
      text +=
          fmt::format("{},{},{},{},{}\n", i, i % 4 == 0 ? "hut" : (i % 2 == 0 ? "flat" : "house"),
                      i % 7, i % 3 == 0 ? "" : "a note", 100 * i);
    }
    WriteBelow(dir_, "homes.csv", text);
  }

  static ConfigNode Recipe(const std::string& features, const std::string& more = "") {
    return *ParseYaml("data:\n  source: [csv: {files: homes.csv, index: memory}]\n" + more +
                          "  features:\n" + features +
                          "  train: [batch: 12]\n  eval: [batch: 12]\n",
                      "r.yaml");
  }
  Result<DataRecipe> Parse(const std::string& features, const std::string& more = "") const {
    return ParseDataSection(Recipe(features, more), dir_.path());
  }
  // The rows of the first batch, one after the other.
  static std::vector<float> Rows(const Dataset& dataset) {
    const std::vector<Element> batches = *ReadAll(dataset, Runtime::Inline());
    const auto values = batches.front().arrays.back().values<float>();
    return {values.begin(), values.end()};
  }

  const TempDir dir_;
};

TEST_F(FeatureRecipe, ColumnsBecomeOneRowInBothPipelinesAndOthersStay) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      Parse("    size: {numeric: {normalize: off}}\n    kind: categorical\n"
            "    day: {categorical: {integers: 7, embedding: 2}}\n    note: drop\n"));
  EXPECT_EQ(data.train.spec().ToString(), "{price: int64[12], features: float32[12, 3]}");
  EXPECT_EQ(data.eval->spec(), data.train.spec());
  // house 6 times, flat and hut 3 times each; 0 is for what is not there.
  std::vector<float> rows = Rows(data.train);
  rows.resize(9);
  EXPECT_THAT(rows, ElementsAre(0, 3, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_EQ(FindFeatureLayout(*data.eval, "features"),
            (FeatureLayout{{{.name = "size"},
                            {.name = "kind", .categories = 4},
                            {.name = "day", .categories = 7, .embedding = 2}}}));
}

TEST_F(FeatureRecipe, NumbersAreNormalizedByTheTrainingSide) {
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("    size: numeric\n    kind: drop\n    note: drop\n",
                                    "  split: {eval: 0.5, by: size}\n"));
  const LearnedValue* const size = data.learned->Find("normalize", "size", 1);
  ASSERT_NE(size, nullptr);
  const double mean = size->options["mean"][0].get<double>();
  double sum = 0;
  for (const float value : Rows(data.train)) sum += value;
  EXPECT_NEAR(sum, 0, 1e-4);
  EXPECT_NE(mean, 5.5);  // of all
}

TEST_F(FeatureRecipe, OneColumnMayBeSeveralFeatures) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      Parse("    size: {numeric: {normalize: off}}\n"
            "    large: {bucketized: {of: size, bounds: [4, 8]}}\n"
            "    weekend: {categorical: {of: day, integers: 7}}\n"
            "    both: {crossed: {of: [large, kind], buckets: 10}}\n    note: drop\n"));
  EXPECT_EQ(data.train.spec().ToString(), "{price: int64[12], features: float32[12, 4]}");
  const FeatureLayout layout = FindFeatureLayout(data.train, "features");
  EXPECT_EQ(layout.columns[1].categories, 3);
  EXPECT_EQ(layout.columns[3],
            (FeatureColumn{.name = "both", .categories = 10, .part = FeaturePart::kWide}));
  const std::vector<float> rows = Rows(data.train);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(rows[4 * i], i);
    EXPECT_EQ(rows[4 * i + 1], i / 4);
    EXPECT_EQ(rows[4 * i + 2], i % 7);
  }
  // 2 and 6 are both flats, of different sizes; 1 and 3 are both small houses.
  EXPECT_EQ(rows[4 * 1 + 3], rows[4 * 3 + 3]);
}

TEST_F(FeatureRecipe, TheFilledSectionHasTheStagesInTheirPlace) {
  const std::string features = "    size: numeric\n    kind: categorical\n    note: drop\n";
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data, Parse(features));
  EXPECT_THAT(ToYaml(data.unlearned), Not(HasSubstr("\n  features:")));
  EXPECT_THAT(ToYaml(data.unlearned), HasSubstr("values: auto"));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe again,
      ParseDataSection(ConfigNode::Map({{"data", {}, data.filled}}), dir_.path()));
  EXPECT_EQ(again.train.ToString(), data.train.ToString());
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset eval, ParseEvalPipeline(Recipe(features), dir_.path()));
  EXPECT_EQ(eval.ToString(), data.eval->ToString());
}

// Each home has some of three rooms, whose words have white space around them here and there.
class FeatureLists : public FeatureRecipe {
 protected:
  void SetUp() override {
    WriteBelow(dir_, "homes.csv",
               "rooms,best,price\nbath|living room,bath,1\n,attic,2\n"
               " attic | bath |bath,living room,3\nliving room,cellar,4\n");
  }
  std::vector<float> RowsOf(const std::string& features) const {
    const Result<DataRecipe> data = Parse(features);
    EXPECT_THAT(data, IsOk());
    return data.ok() ? Rows(data->train) : std::vector<float>();
  }
};

TEST_F(FeatureLists, AreNumberedByTheWordsOfTheTrainingSideAndFilledUp) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const DataRecipe data,
      Parse("    rooms: {categorical: {separator: '|', most: 3, embedding: 2}}\n    best: drop\n"));
  // bath and living room twice, attic once, and 0 is for what is not there.
  EXPECT_THAT(Rows(data.train), ElementsAre(1, 2, -1, -1, -1, -1, 3, 1, 1, 2, -1, -1));
  EXPECT_EQ(FindFeatureLayout(*data.eval, "features"),
            (FeatureLayout{{{.name = "rooms", .slots = 3, .categories = 4, .embedding = 2}}}));
}

TEST_F(FeatureLists, NumberWordsAsFeaturesOfOneWordDo) {
  EXPECT_THAT(RowsOf("    rooms: {categorical: {separator: '|', most: 2, longer: cut, vocabulary: "
                     "[attic, bath], embedding: 2, shared: room}}\n    best: {categorical: "
                     "{vocabulary: [attic, bath], embedding: 2, shared: room}}\n"),
              ElementsAre(2, 0, 2, -1, -1, 1, 1, 2, 0, 0, -1, 0));
  const std::vector<float> hashed = RowsOf(
      "    rooms: {categorical: {separator: '|', most: 3, hash: 500}}\n"
      "    best: {categorical: {hash: 500}}\n");
  ASSERT_EQ(hashed.size(), 16u);
  EXPECT_EQ(hashed[0], hashed[3]);    // bath
  EXPECT_EQ(hashed[8], hashed[7]);    // attic
  EXPECT_EQ(hashed[12], hashed[11]);  // living room
}

TEST_F(FeatureLists, SeparatorsAreTextsAndNoExpressions) {
  WriteBelow(dir_, "homes.csv", "rooms,price\na.*b,1\n\"b.*c\nd\",2\n");
  EXPECT_THAT(RowsOf("    rooms: {categorical: {separator: '.*', most: 3, vocabulary: [a, b, c, "
                     "d]}}\n"),
              ElementsAre(1, 2, -1, 2, 3, 4));
}

TEST_F(FeatureLists, WordsOfEquallyLongTextsHaveNoPaddingInThem) {
  Result<Dataset> texts = FromArrays(
      {{"rooms", Array::Of<uint8_t>({'a', '|', 'b', 0, 'c', 0, 0, 0}).Reshaped({2, 4})}}, "texts");
  const Result<Dataset> words = texts | Words{.values = {"a", "b", "c"},
                                              .field = "rooms",
                                              .output = "rooms",
                                              .separator = "\\|",
                                              .trim = true};
  ASSERT_THAT(words, IsOk());
  const std::vector<Element> all = *ReadAll(*words, Runtime::Inline());
  EXPECT_THAT(all[0].arrays[0].values<int32_t>(), ElementsAre(0, 1));
  EXPECT_THAT(all[1].arrays[0].values<int32_t>(), ElementsAre(2));
}

TEST_F(FeatureLists, OfNumbersAreTakenAsTheyAreOrHashed) {
  WriteBelow(dir_, "homes.jsonl",
             "{\"tags\": [3, 1], \"price\": 1}\n{\"tags\": [], \"price\": 2}\n");
  const auto rows = [&](const std::string& options) {
    const Result<DataRecipe> data = ParseDataSection(
        *ParseYaml("data:\n  source: [jsonl: {files: homes.jsonl, fields: {tags: {type: int64, "
                   "shape: [-1]}, price: float32}}]\n  features:\n    tags: {categorical: {" +
                       options + "}}\n  train: [batch: 2]\n",
                   "r.yaml"),
        dir_.path());
    EXPECT_THAT(data, IsOk());
    return data.ok() ? Rows(data->train) : std::vector<float>();
  };
  EXPECT_THAT(rows("integers: 4, most: 3"), ElementsAre(3, 1, -1, -1, -1, -1));
  const std::vector<float> hashed = rows("hash: 1000, most: 2");
  ASSERT_EQ(hashed.size(), 4u);
  EXPECT_NE(hashed[0], hashed[1]);
  EXPECT_THAT(std::span(hashed).subspan(2), ElementsAre(-1, -1));
}

struct Mistake {
  std::string features;
  std::string message;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.features; }

class FeatureMistakes : public FeatureRecipe, public testing::WithParamInterface<Mistake> {};

TEST_P(FeatureMistakes, AreNamedWithTheirPlace) {
  EXPECT_THAT(Parse("    " + GetParam().features + "\n"),
              FailsWith(StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, FeatureMistakes,
    testing::Values(
        Mistake{"size: numerical",
                "r.yaml:4:11: data.features.size: there is no kind 'numerical'; "
                "did you mean 'numeric'?"},
        Mistake{"size: numeric_column",
                "there is no kind 'numeric_column'; here that is data.features: its kind numeric"},
        Mistake{"kind: {categorical: {hash_bucket_size: 8}}", "here that is hash"},
        Mistake{"size: [numeric]", "r.yaml:4:5: data.features.size is a list; it is a kind"},
        Mistake{"size: {numeric: {normalise: off}}",
                "data.features.size: unknown option 'normalise'; did you mean 'normalize'?"},
        Mistake{"sise: numeric", "r.yaml:4:5: cast: there is no field 'sise'"},
        Mistake{"kind: numeric",
                "r.yaml:4:5: normalize: field 'kind' has shape [?], whose first "
                "dimension differs from sample to sample"},
        Mistake{"size: {bucketized: {bounds: [8, 4]}}", "r.yaml:4:5: bucketize: bounds"},
        Mistake{
            "kind: {categorical: {hash: 10, integers: 7}}",
            "r.yaml:4:5: data.features.kind: vocabulary, file, hash and integers are four ways"},
        Mistake{"size:", "r.yaml:4:5: data.features.size is nothing; it is a kind"},
        Mistake{"size: {bucketized: {bounds: [4], quantiles: 4}}", "leave one of the two out"},
        Mistake{"both: {crossed: {of: [kind, kind]}}", "`of` names a column twice"},
        Mistake{"kind: {drop: {}}", "data.features.kind: `drop` has no options"},
        Mistake{"kind: {categorical: {vocabulary: []}}", "vocabulary is an empty list"},
        Mistake{"kind: {categorical: {embedding: 4, shared: kinds}}", "its words are learned"},
        Mistake{"size: {numeric: {normalize: off, missing: mean}}", "without normalizing the mean"},
        Mistake{"size: {numeric: {quantiles: 8, indicator: true}}", "an indicator does not see it"},
        Mistake{"size: categorical", "{integers: N} if they count from 0"},
        Mistake{"kind: {categorical: {hash: 10, limit: 7}}", "limit and min_count are for words"},
        Mistake{"both: {crossed: {of: kind}}", "`of` names 'kind' alone"},
        Mistake{"both: {crossed: {of: [kind, both]}}", "'both' is crossed itself"},
        Mistake{"kind: {categorical: {separator: '|'}}",
                "r.yaml:4:5: data.features.kind: `most` is missing"},
        Mistake{"kind: {categorical: {separator: '', most: 2}}", "separator is empty"},
        Mistake{"day: {categorical: {separator: '|', most: 2}}", "csv: {fields: {day: text}}"},
        Mistake{"kind: {categorical: {longer: cut}}", "data.features.kind: `most` is missing"},
        Mistake{"day: {categorical: {separator: '|', most: 2, integers: 7}}",
                "`integers` takes numbers as they are"},
        Mistake{"day: {categorical: {integers: 7, most: 2}}", "so leave it out"},
        Mistake{"kind: {categorical: {most: 2}}", "say in data.features with `separator`"},
        Mistake{"kind: {categorical: {separator: '|', most: 70000}}", "data.features.kind"},
        Mistake{"kind: {categorical: {separator: '|', most: 2}}\n    both: {crossed: {of: [kind, "
                "day]}}",
                "'kind' is a list; features of one value each are crossed"},
        Mistake{"price: {categorical: {of: kind}}", "r.yaml:4:5: join: "}));

TEST_F(FeatureRecipe, FeaturesThatShareVectorsNumberTheirValuesAlike) {
  const auto shared = [](const std::string& kind, const std::string& other) {
    return fmt::format(
        "    kind: {{categorical: {{{}, embedding: 2, shared: both}}}}\n"
        "    more: {{categorical: {{of: kind, {}, embedding: 2, shared: both}}}}\n    note: drop\n",
        kind, other);
  };
  EXPECT_THAT(Parse(shared("hash: 9", "hash: 9")), IsOk());
  EXPECT_THAT(Parse(shared("hash: 9", "vocabulary: [hut, house]")),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:4:5: data.features.kind: it shares 'both' with 'more'"));
}

TEST_F(FeatureRecipe, AFeatureIsOfAColumnAndNotOfAFeatureOfAnotherColumn) {
  EXPECT_THAT(Parse("    large: {bucketized: {of: size, bounds: [4]}}\n"
                    "    again: {categorical: {of: large, integers: 2}}\n"),
              FailsWith(StatusCode::kInvalidArgument, "'large' is a feature of another column"));
}

TEST_F(FeatureRecipe, NoStageMayChangeTheRow) {
  const ConfigNode recipe = *ParseYaml(
      "data:\n  source: [csv: {files: homes.csv, index: memory}]\n  features: {size: numeric, "
      "kind: "
      "drop, note: drop}\n  train: [normalize: {mean: auto, field: features}, batch]\n",
      "r.yaml");
  EXPECT_THAT(ParseDataSection(recipe, dir_.path()),
              FailsWith(StatusCode::kInvalidArgument,
                        "data.train: normalize would change the row of features"));
}

TEST_F(FeatureRecipe, AMissingNumberIsInTheMiddleHoweverFewQuantilesThereAre) {
  std::string text = "size,price\n";
  for (int i = 0; i < 12; ++i)
    text += fmt::format("{},{}\n", i % 4 == 3 ? "" : std::to_string(i % 3), i);
  WriteBelow(dir_, "homes.csv", text);
  STOKER_ASSERT_OK_AND_ASSIGN(const DataRecipe data,
                              Parse("    size: {numeric: {quantiles: 64}}\n"));
  for (const float value : Rows(data.train)) EXPECT_LT(std::abs(value), 2);
}

// Kinds that learn and kinds that do not, in turn, would take a pass for each.
TEST_F(FeatureRecipe, WhateverTheOrderOfFeaturesTwoPassesLearnAll) {
  const std::vector<ConfigNode> stages = *FeatureStages(
      *ParseYaml("features: {a: numeric, g: categorical, b: {categorical: {hash: 9}}, c: "
                 "categorical, d: {numeric: {quantiles: 8}}, e: {crossed: {of: [b, c]}}, f: "
                 "bucketized}",
                 "r.yaml"));
  std::vector<std::string> names;
  for (const ConfigNode& stage : stages) names.push_back(stage.entries.front().key);
  EXPECT_THAT(names, ElementsAre("hash", "lookup", "lookup", "cast", "normalize", "bucketize",
                                 "bucketize", "cast", "normalize", "hash", "feature_row"));
}

TEST_F(FeatureRecipe, ANumericFeatureIsCrossedByItsRangesOnly) {
  EXPECT_THAT(Parse("    size: numeric\n    both: {crossed: {of: [size, kind]}}\n"),
              FailsWith(StatusCode::kInvalidArgument,
                        "'size' is numeric; columns, and features that are bucketized or "
                        "categorical, are crossed: add one, such as size_range: {bucketized: {of: "
                        "size}}"));
}

TEST_F(FeatureRecipe, FeaturesNeedASource) {
  EXPECT_THAT(ParseDataSection(*ParseYaml("data:\n  features: {size: numeric}\n  train: [csv: "
                                          "homes.csv, batch]\n",
                                          "r.yaml"),
                               dir_.path()),
              FailsWith(StatusCode::kInvalidArgument,
                        "r.yaml:2:13: data.features are made of what "
                        "data.source reads"));
  EXPECT_THAT(Parse("    {}\n"), FailsWith(StatusCode::kInvalidArgument, "data.features is empty"));
}

}  // namespace stoker::feature_recipe_test
