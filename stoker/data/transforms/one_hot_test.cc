#include "stoker/data/transforms/one_hot.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/testing/transforms.h"

namespace stoker::one_hot_test {

using testing::ElementsAre;

Dataset EmptyLabels(DType dtype, Shape shape) {
  return EmptyDataset({{{"label", dtype, std::move(shape)}}});
}

Result<Array> Expanded(const OneHot& options, const Array& label) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                          Result<Dataset>(EmptyLabels(label.dtype(), label.shape())) | options);
  return TransformTester(dataset).Apply(label);
}

TEST(OneHot, HasAOneAtTheClass) {
  const std::vector<int64_t> label = {2};
  STOKER_ASSERT_OK_AND_ASSIGN(const Array out,
                              Expanded({.classes = 4}, Array::Of<int64_t>(label, {})));
  EXPECT_EQ(out.ToString(), "float32[4]");
  EXPECT_THAT(out.values<float>(), ElementsAre(0, 0, 1, 0));
}

TEST(OneHot, SpreadsTheSmoothingEvenly) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array out, Expanded({.classes = 4, .smoothing = 0.2}, Array::Of<uint8_t>({1, 3})));
  EXPECT_EQ(out.ToString(), "float32[2, 4]");
  const auto on = static_cast<float>(0.85), off = static_cast<float>(0.05);
  EXPECT_THAT(out.values<float>(), ElementsAre(off, on, off, off, off, off, off, on));
}

TEST(OneHot, SpecHasTheClassesLast) {
  EXPECT_EQ((EmptyLabels(DType::kInt32, {-1, 3}) | OneHot{.classes = 10})->spec().ToString(),
            "{label: float32[?, 3, 10]}");
}

TEST(OneHot, GivesTheSameBeforeABatchAndBehindIt) {
  const Result<Dataset> before = NumberedImages(30) | OneHot{.classes = 30} | Batch{.size = 7};
  const Result<Dataset> behind = NumberedImages(30) | Batch{.size = 7} | OneHot{.classes = 30};
  STOKER_ASSERT_OK_AND_ASSIGN(const auto want, ReadAll(*before, Runtime::Inline()));
  for (const Result<Dataset>& dataset : {before, behind}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*dataset, Runtime::Threaded(2)));
    EXPECT_EQ(Fingerprint(got), Fingerprint(want));
  }
}

TEST(OneHot, RowsGiveTheBytesOfElements) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      EmptyDataset({{{"image", DType::kUInt8, {2}}, {"label", DType::kInt64, {}}}}) |
          OneHot{.classes = 6, .smoothing = 0.1});
  TransformTester(dataset).ExpectRowsGiveTheBytesOfElements(CountingRows(6, DType::kUInt8, {2}));
}

TEST(OneHot, NamesTheElementAndTheNumberThatIsNoClass) {
  const Result<Dataset> by_position = NumberedImages(9) | OneHot{.classes = 5};
  const Result<Dataset> in_order = StreamedImages(9) | OneHot{.classes = 5};
  for (const Result<Dataset>& dataset : {by_position, in_order}) {
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset->Open(runtime));
      for (int i = 0; i < 5; ++i) STOKER_ASSERT_OK(iterator->Next());
      EXPECT_THAT(iterator->Next(),
                  FailsWith(StatusCode::kOutOfRange,
                            "one_hot: element 5: field 'label' is 5, but the classes are 0..4"));
    }
  }
  EXPECT_THAT(Expanded({.classes = 3}, Array::Of<int32_t>({0, -1})),
              FailsWith(StatusCode::kOutOfRange, "field 'label' is -1"));
}

TEST(OneHot, RefusesWhatIsNoClassNumber) {
  EXPECT_THAT(EmptyLabels(DType::kFloat32, {}) | OneHot{.classes = 3},
              FailsWith(StatusCode::kInvalidArgument, "field 'label' is float32"));
  EXPECT_THAT((EmptyLabels(DType::kInt64, {}) | OneHot{.classes = 3, .field = "target"}),
              FailsWith(StatusCode::kInvalidArgument, "there is no field 'target'"));
  EXPECT_THAT(EmptyLabels(DType::kInt64, {}) | OneHot{},
              FailsWith(StatusCode::kInvalidArgument, "classes is 0"));
  EXPECT_THAT((EmptyLabels(DType::kInt64, {}) | OneHot{.classes = 3, .smoothing = 1.5}),
              FailsWith(StatusCode::kInvalidArgument, "smoothing is 1.5"));
}

TEST(OneHot, LeavesAnEpochInItsOrder) {
  EXPECT_EQ((NumberedImages(3) | OneHot{.classes = 3})->node().Disturbs(), "");
}

}  // namespace stoker::one_hot_test
