#include "stoker/data/transforms/bucketize.h"

#include <limits>

#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/testing/transforms.h"

namespace stoker::bucketize_test {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Result<Array> Bucketized(const Bucketize& options, const Array& values) {
  STOKER_ASSIGN_OR_RETURN(
      const Dataset dataset,
      Result<Dataset>(EmptyDataset({{{"image", values.dtype(), values.shape()}}})) | options);
  return TransformTester(dataset).Apply(values);
}

// numpy.digitize([-inf, 17.5, 18, 64.9, 65, inf], [18, 65]) gives [0, 0, 1, 1, 2, 2].
TEST(Bucketize, CountsTheBoundsThatAreAtMostTheValue) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array out, Bucketized({.bounds = {18, 65}},
                                  Array::Of<float>({-kInfinity, 17.5f, 18, 64.9f, 65, kInfinity})));
  EXPECT_EQ(out.ToString(), "int64[6]");
  EXPECT_THAT(out.values<int64_t>(), ElementsAre(0, 0, 1, 1, 2, 2));
}

// As float64 0.7f lies below 0.7, and 0.1f above 0.1.
TEST(Bucketize, PutsAFloatThatIsWrittenAsABoundIntoTheBucketThatBeginsThere) {
  for (const double bound : {0.1, 0.7}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Array out,
        Bucketized({.bounds = {bound}}, Array::Of<float>({static_cast<float>(bound)})));
    EXPECT_THAT(out.values<int64_t>(), ElementsAre(1));
  }
}

TEST(Bucketize, TakesIntegersAndKeepsTheShape) {
  const std::vector<int32_t> values = {-4, -3, 0, 9};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array out,
      Bucketized({.bounds = {-3, 0.5, 7}}, Array::Of<int32_t>(std::span(values), {2, 2})));
  EXPECT_EQ(out.ToString(), "int64[2, 2]");
  EXPECT_THAT(out.values<int64_t>(), ElementsAre(0, 1, 1, 3));
}

TEST(Bucketize, NamesTheElementOfANanOrGivesItItsNumber) {
  EXPECT_THAT(Bucketized({.bounds = {0}}, Array::Of<float>({1, kNan})),
              FailsWith(StatusCode::kOutOfRange, "field 'image' has a NaN"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array out,
                              Bucketized({.bounds = {0}, .nan = 7}, Array::Of<float>({1, kNan})));
  EXPECT_THAT(out.values<int64_t>(), ElementsAre(1, 7));
}

TEST(Bucketize, GivesANanTheBucketInTheMiddleWhereThatIsWanted) {
  const std::vector<std::pair<std::vector<double>, int64_t>> cases = {
      {{0}, 0}, {{0, 1}, 1}, {{0, 1, 2}, 1}, {{0, 1, 2, 3}, 2}};
  for (const auto& [bounds, middle] : cases) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Array out,
        Bucketized({.bounds = bounds, .nan_to_middle = true}, Array::Of<float>({kNan})));
    EXPECT_THAT(out.values<int64_t>(), ElementsAre(middle));
  }
  EXPECT_THAT(Bucketized({.bounds = {0}, .nan = 3, .nan_to_middle = true}, Array::Of<float>({1})),
              FailsWith(StatusCode::kInvalidArgument, "leave one out"));
}

TEST(Bucketize, RefusesBoundsThatDoNotRise) {
  const auto built = [](std::vector<double> bounds) {
    return NumberedImages(3) | Bucketize{.bounds = std::move(bounds)};
  };
  EXPECT_THAT(built({}), FailsWith(StatusCode::kInvalidArgument, "there are no bounds"));
  EXPECT_THAT(built({1, 1}), FailsWith(StatusCode::kInvalidArgument, "1 is followed by 1"));
  EXPECT_THAT(built({3, 2}), FailsWith(StatusCode::kInvalidArgument, "3 is followed by 2"));
}

TEST(Bucketize, GivesTheSameBeforeABatchAndAfterIt) {
  const Bucketize buckets{.bounds = {3, 10, 11}, .field = "label"};
  const Result<Dataset> before = NumberedImages(30) | buckets | Batch{.size = 7};
  const Result<Dataset> after = NumberedImages(30) | Batch{.size = 7} | buckets;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto want, ReadAll(*before, Runtime::Inline()));
  for (const Result<Dataset>& dataset : {before, after}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*dataset, Runtime::Threaded(2)));
    EXPECT_EQ(Fingerprint(got), Fingerprint(want));
  }
}

TEST(Bucketize, RowsGiveTheBytesOfElements) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      EmptyDataset({{{"image", DType::kUInt8, {2}}, {"label", DType::kInt64, {}}}}) |
          Bucketize{.bounds = {2, 5}});
  TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(6, DType::kUInt8, {2}));
}

}  // namespace stoker::bucketize_test
