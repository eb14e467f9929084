#include "stoker/data/transforms/feature_row.h"

#include <limits>
#include <span>
#include <utility>

#include "stoker/data/core/feature_layout.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/data/transforms/bucketize.h"
#include "stoker/data/transforms/hash.h"

namespace stoker::feature_row_test {

using testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Two samples: a number, a list of numbers, a day, and a label.
Result<Dataset> Samples() {
  return FromArrays({{"size", Array::Of<float>({1.5f, -9})},
                     {"pair", Array::Of<double>(std::vector<double>{1, 2, 3, 4}).Reshaped({2, 2})},
                     {"day", Array::Of<int64_t>({6, 0})},
                     {"label", Array::Of<int64_t>({1, 0})}},
                    "samples");
}

RowFeature Day() { return {.name = "day", .is = "category", .categories = 7}; }

std::vector<float> RowOf(const Result<Dataset>& dataset, size_t sample) {
  EXPECT_THAT(dataset, IsOk());
  const std::vector<Element> all = *ReadAll(*dataset, Runtime::Inline());
  const auto values = all[sample].arrays.back().values<float>();
  return {values.begin(), values.end()};
}

TEST(FeatureRow, PutsNumbersBeforeCategoriesIntoOneRowAndTakesTheirFieldsOut) {
  const Result<Dataset> rows =
      Samples() | FeatureRow{.features = {Day(), {.name = "size"}, {.name = "pair"}}};
  ASSERT_THAT(rows, IsOk());
  EXPECT_EQ(rows->spec().ToString(), "{label: int64[], features: float32[4]}");
  EXPECT_THAT(RowOf(rows, 0), ElementsAre(1.5f, 1, 2, 6));
  EXPECT_THAT(RowOf(rows, 1), ElementsAre(-9, 3, 4, 0));
  ExpectKeepsItsPromises(rows);
}

TEST(FeatureRow, SaysWhatItsRowsHoldThroughTheStagesThatFollow) {
  RowFeature day = Day();
  day.embedding = 3;
  day.part = "deep";
  const Result<Dataset> batches =
      Samples() | FeatureRow{.features = {day, {.name = "pair"}}, .drop = {"size"}} | Shuffle{} |
      Batch{.size = 2};
  ASSERT_THAT(batches, IsOk());
  const FeatureLayout layout = FindFeatureLayout(*batches, "features");
  EXPECT_EQ(layout,
            (FeatureLayout{
                {{.name = "pair", .slots = 2},
                 {.name = "day", .categories = 7, .embedding = 3, .part = FeaturePart::kDeep}}}));
  EXPECT_EQ(layout.NumNumbers(), 2);
  EXPECT_TRUE(layout.HasCategories());
  EXPECT_TRUE(FindFeatureLayout(*batches, "label").empty());
}

TEST(FeatureRow, KnowsHowManyCategoriesTheStageBeforeGives) {
  const Result<Dataset> rows = Samples() | Bucketize{.bounds = {0, 1}, .field = "size"} |
                               Hash{.fields = {"day"}, .buckets = 50} |
                               FeatureRow{.features = {{.name = "size", .is = "category"},
                                                       {.name = "day", .is = "category"}},
                                          .drop = {"pair"}};
  ASSERT_THAT(rows, IsOk());
  const FeatureLayout layout = FindFeatureLayout(*rows, "features");
  EXPECT_EQ(layout.columns[0].categories, 3);
  EXPECT_EQ(layout.columns[1].categories, 50);
  EXPECT_THAT((Samples() | FeatureRow{.features = {{.name = "day", .is = "category"}}}),
              FailsWith(StatusCode::kInvalidArgument,
                        "how many categories feature 'day' has is not known"));
  RowFeature few = Day();
  few.categories = 9;
  EXPECT_THAT((Samples() | Hash{.fields = {"day"}, .buckets = 10} | FeatureRow{.features = {few}}),
              FailsWith(StatusCode::kInvalidArgument, "has 10 categories by the stage"));
}

TEST(FeatureRow, AMissingNumberIsAnErrorOrBecomesTheMeanWithAnIndicatorBeside) {
  const Dataset input = EmptyDataset({{{"x", DType::kFloat32, {2}}}});
  const auto row = [&](const RowFeature& x) -> Result<Array> {
    STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                            Result<Dataset>(input) | FeatureRow{.features = {x}});
    return TransformTester(dataset).Apply(Array::Of<float>({kNan, 7}));
  };
  EXPECT_THAT(row({.name = "x"}),
              FailsWith(StatusCode::kOutOfRange, "feature 'x' is missing (NaN)"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array filled, row({.name = "x", .missing = "mean"}));
  EXPECT_THAT(filled.values<float>(), ElementsAre(0, 7));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array said,
                              row({.name = "x", .missing = "mean", .indicator = true, .clip = 3}));
  EXPECT_THAT(said.values<float>(), ElementsAre(0, 3, 1, 0));
}

TEST(FeatureRow, AnInfiniteNumberNamesTheSampleUnlessItIsBounded) {
  const Dataset input = EmptyDataset({{{"x", DType::kFloat64, {}}}});
  const auto row = [&](const RowFeature& x, double value) -> Result<Array> {
    STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                            Result<Dataset>(input) | FeatureRow{.features = {x}});
    return TransformTester(dataset).Apply(Array::Of<double>({value}).Reshaped({}));
  };
  for (const double value : {std::numeric_limits<double>::infinity(), -1e300}) {
    EXPECT_THAT(row({.name = "x"}, value), FailsWith(StatusCode::kOutOfRange, "'x' is infinite"));
    STOKER_ASSERT_OK_AND_ASSIGN(const Array bounded, row({.name = "x", .clip = 4}, value));
    EXPECT_THAT(bounded.values<float>(), ElementsAre(value > 0 ? 4 : -4));
  }
}

TEST(FeatureRow, ACategoryBeyondTheLastOrAFractionNamesTheSample) {
  const auto row = [](const Array& value) -> Result<Array> {
    const Dataset input = EmptyDataset({{{"day", value.dtype(), {}}}});
    STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                            Result<Dataset>(input) | FeatureRow{.features = {Day()}});
    return TransformTester(dataset).Apply(value.Reshaped({}));
  };
  EXPECT_THAT(row(Array::Of<int64_t>({7})),
              FailsWith(StatusCode::kOutOfRange,
                        "feature 'day' is 7, and its categories are the "
                        "numbers 0 to 6"));
  EXPECT_THAT(row(Array::Of<int64_t>({-2})), FailsWith(StatusCode::kOutOfRange, "is -2"));
  EXPECT_THAT(row(Array::Of<float>({1.5f})), FailsWith(StatusCode::kOutOfRange, "is 1.5"));
  for (const Array& none : {Array::Of<int64_t>({-1}), Array::Of<float>({kNan})}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array out, row(none));
    EXPECT_THAT(out.values<float>(), ElementsAre(-1));
  }
}

// The row that a sample's tags become.
Result<Array> RowOfTags(const RowFeature& feature, std::span<const int32_t> tags) {
  const Dataset input = EmptyDataset({{{"tags", DType::kInt32, {kUnknownDim}}}});
  STOKER_ASSIGN_OR_RETURN(const Dataset rows,
                          Result<Dataset>(input) | FeatureRow{.features = {feature}});
  return TransformTester(rows).Apply(Array::Of<int32_t>({tags.begin(), tags.end()}));
}

RowFeature Tags(std::optional<int64_t> most) {
  return {.name = "tags", .is = "category", .categories = 9, .most = most};
}

TEST(FeatureRow, AListThatVariesIsFilledUpWithNoCategory) {
  const std::vector<std::pair<std::vector<int32_t>, std::vector<float>>> rows = {
      {{4, 0}, {4, 0, -1}}, {{}, {-1, -1, -1}}, {{8, 1, 2}, {8, 1, 2}}};
  for (const auto& [tags, expected] : rows) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array row, RowOfTags(Tags(3), tags));
    EXPECT_THAT(row.values<float>(), testing::ElementsAreArray(expected));
  }
}

TEST(FeatureRow, AListWithMoreValuesThanItsMostNamesTheSampleOrIsCut) {
  const std::vector<int32_t> three = {8, 1, 2};
  RowFeature tags = Tags(2);
  EXPECT_THAT(RowOfTags(tags, three),
              FailsWith(StatusCode::kOutOfRange,
                        "element 7: feature 'tags' has 3 values, and `most` is 2"));
  tags.longer = "cut";
  STOKER_ASSERT_OK_AND_ASSIGN(const Array cut, RowOfTags(tags, three));
  EXPECT_THAT(cut.values<float>(), ElementsAre(8, 1));
}

TEST(FeatureRow, OnlyListsThatVaryNeedAMost) {
  RowFeature tags = Tags(std::nullopt);
  EXPECT_THAT(RowOfTags(tags, {}),
              FailsWith(StatusCode::kInvalidArgument, "unless `most` says how many values"));
  tags.longer = "cut";
  EXPECT_THAT(RowOfTags(tags, {}),
              FailsWith(StatusCode::kInvalidArgument, "`most`, which is not given"));
  EXPECT_THAT(RowOfTags({.name = "tags", .most = 2}, {}),
              FailsWith(StatusCode::kInvalidArgument, "which has no `most`"));
  RowFeature day = Day();
  day.most = 2;
  EXPECT_THAT((Samples() | FeatureRow{.features = {day}}),
              FailsWith(StatusCode::kInvalidArgument, "so leave it out"));
}

TEST(FeatureRow, RefusesWhatSaysNothingOfItsSortOfFeature) {
  const auto built = [](RowFeature feature) {
    return Samples() | FeatureRow{.features = {std::move(feature)}};
  };
  EXPECT_THAT(
      built({.name = "size", .embedding = 8}),
      FailsWith(StatusCode::kInvalidArgument, "'size' is a number, which has no `embedding`"));
  RowFeature day = Day();
  day.clip = 3;
  EXPECT_THAT(built(day), FailsWith(StatusCode::kInvalidArgument, "which has no `clip`"));
  day = Day();
  day.shared = "days";
  EXPECT_THAT(built(day), FailsWith(StatusCode::kInvalidArgument, "say with `embedding`"));
  EXPECT_THAT(built({.name = "sizes"}), FailsWith(StatusCode::kInvalidArgument, "sizes"));
  EXPECT_THAT(Samples() | FeatureRow{}, FailsWith(StatusCode::kInvalidArgument, "is empty"));
}

TEST(FeatureRow, FeaturesThatShareVectorsMustHaveEquallyMany) {
  RowFeature day = Day();
  day.embedding = 4;
  day.shared = "both";
  const RowFeature label{
      .name = "label", .is = "category", .categories = 2, .embedding = 4, .shared = "both"};
  EXPECT_THAT((Samples() | FeatureRow{.features = {day, label}}),
              FailsWith(StatusCode::kInvalidArgument,
                        "features 'day' and 'label' share 'both', but have 7 categories of 4 "
                        "values and 2 of 4"));
}

}  // namespace stoker::feature_row_test
