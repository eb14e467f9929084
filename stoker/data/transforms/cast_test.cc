#include "stoker/data/transforms/cast.h"

#include "stoker/data/testing/transforms.h"

namespace stoker::cast_test {

TEST(Cast, ConvertsTheFieldAndSaysSoInTheSpec) {
  const Dataset input =
      EmptyDataset({{{"image", DType::kUInt8, {2}}, {"label", DType::kInt64, {}}}});
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cast, Result<Dataset>(input) | Cast{});
  EXPECT_EQ(cast.spec().ToString(), "{image: float32[2], label: int64[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              TransformTester(cast).Apply(Array::Of<uint8_t>({3, 200})));
  EXPECT_TRUE(SameBytes(image, Array::Of<float>({3, 200})));
}

TEST(Cast, TruncatesAndClampsFloatsToIntegers) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset cast,
      Result<Dataset>(EmptyImages(DType::kFloat32, {4})) | Cast{.dtype = "uint8"});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image,
                              TransformTester(cast).Apply(Array::Of<float>({-1, 1.9f, 255, 1e9f})));
  EXPECT_TRUE(SameBytes(image, Array::Of<uint8_t>({0, 1, 255, 255})));
}

TEST(Cast, LeavesAFieldOfThatDtypeAlone) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cast,
                              Result<Dataset>(EmptyImages(DType::kFloat32, {2})) | Cast{});
  const Array image = Array::Of<float>({1, 2});
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out,
                              TransformTester(cast).Apply(Element{.key = {}, .arrays = {image}}));
  EXPECT_EQ(out.arrays.front().data(), image.data());
}

TEST(Cast, RowsGiveTheBytesOfElements) {
  for (const char* dtype : {"bool", "int8", "int64", "float16", "bfloat16", "float32", "float64"}) {
    SCOPED_TRACE(dtype);
    const Dataset input = EmptyImages(DType::kUInt8, {3, 5});
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cast, Result<Dataset>(input) | Cast{.dtype = dtype});
    TransformTester(cast).ExpectRowsGiveTheBytesOfElements(CountingRows(9, DType::kUInt8, {3, 5}));
  }
}

TEST(Cast, RefusesUnknownFieldsAndDtypes) {
  const Result<Dataset> input = EmptyImages(DType::kUInt8, {2});
  EXPECT_THAT(input | Cast{.field = "picture"}, FailsWith(StatusCode::kInvalidArgument, "cast: "));
  EXPECT_THAT(input | Cast{.field = "picture"}, FailsWith(StatusCode::kInvalidArgument, "picture"));
  EXPECT_THAT(input | Cast{.dtype = "float23"}, FailsWith(StatusCode::kInvalidArgument, "float23"));
  EXPECT_THAT(input | Cast{.dtype = "float23"},
              FailsWith(StatusCode::kInvalidArgument, "bfloat16"));  // the choices
}

}  // namespace stoker::cast_test
