#include "stoker/data/transforms/resize.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/testing/paired_transforms.h"
#include "stoker/image/store.h"

namespace stoker::resize_test {

Result<Array> Resized(const Array& image, const Resize& options) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                          Result<Dataset>(EmptyImages(image.dtype(), image.shape())) | options);
  STOKER_ASSIGN_OR_RETURN(Array out, TransformTester(dataset).Apply(image));
  EXPECT_EQ(out.shape(), dataset.spec().fields[0].shape);
  return out;
}

Array PictureOf(int64_t channels, int64_t height, int64_t width) {
  Array image = Array::Allocate(DType::kUInt8, {channels, height, width});
  for (size_t i = 0; i < image.num_bytes(); ++i)
    image.values<uint8_t>()[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return image;
}

// More planes than go through the resampler at once.
TEST(Resize, GivesEachPlaneWhatTheKernelGives) {
  const Array image = PictureOf(6, 20, 33);
  for (const char* filter : {"nearest", "box", "area", "bilinear", "bicubic", "lanczos"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Array out, Resized(image, {.height = 7, .width = 50, .interpolation = filter}));
    STOKER_ASSERT_OK_AND_ASSIGN(const ResampleFilter kernel, ParseResampleFilter(filter));
    ResampleScratch scratch;
    for (int64_t c = 0; c < 6; ++c) {
      const PixelView plane{image.values<uint8_t>().data() + c * 660, 20, 33, 1, 33, 0};
      std::vector<uint8_t> want(350);
      ResampleToSlot(
          plane, ResampleBox::Whole(plane), kernel, {},
          PixelSlot::Of(DType::kUInt8, reinterpret_cast<std::byte*>(want.data()), 7, 50, 1, false),
          scratch);
      ASSERT_EQ(std::memcmp(out.values<uint8_t>().data() + c * 350, want.data(), 350), 0)
          << filter << ' ' << c;
    }
  }
}

TEST(Resize, KeepsTheRatioByTheShorterSideAndRoundsTheOtherDown) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array wide,
                              Resized(PictureOf(3, 375, 500), {.shorter_side = 256}));
  EXPECT_EQ(wide.shape(), (Shape{3, 256, 341}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array high,
                              Resized(PictureOf(1, 50, 30), {.shorter_side = 10}));
  EXPECT_EQ(high.shape(), (Shape{1, 16, 10}));
}

TEST(Resize, ChargesTheTablesOfALongSideToItsStageBeforeTheyAreMade) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32}) {
    const Array image = Array::Allocate(dtype, {1, 1, 1 << 20});
    std::memset(image.data(), 0, image.num_bytes());
    const ResampleSize size{1, 1 << 16};
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Dataset dataset,
        FromArrays({{"image", image.Reshaped({1, 1, 1, 1 << 20})}}) |
            Resize{.height = 1, .width = 1 << 16, .interpolation = "lanczos"});
    const int64_t tables = ResampleTableBytes(1, 1 << 20, {.height = 1, .width = 1 << 20},
                                              ResampleFilter::kLanczos3, size);
    EXPECT_GT(tables, int64_t{60} << 20);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK(iterator->Next().status());
    EXPECT_GE(iterator->GetProfile().stages.back().peak_memory_bytes, tables);
  }
}

TEST(Resize, TakesImagesWhoseSizeWasUnknown) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset exact,
      Result<Dataset>(EmptyImages(DType::kUInt8, {3, -1, -1})) | Resize{.size = 8});
  EXPECT_EQ(exact.spec().ToString(), "{image: uint8[3, 8, 8]}");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset shorter,
      Result<Dataset>(EmptyImages(DType::kUInt8, {3, -1, -1})) | Resize{.shorter_side = 8});
  EXPECT_EQ(shorter.spec().ToString(), "{image: uint8[3, ?, ?]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array out,
                              TransformTester(shorter).Apply(PictureOf(3, 16, 40)));
  EXPECT_EQ(out.shape(), (Shape{3, 8, 20}));
  EXPECT_THAT(TransformTester(exact).Apply(Array::Allocate(DType::kUInt8, {3, 0, 4})),
              FailsWith(StatusCode::kInvalidArgument, "resize: from 0 x 4 to 8 x 8 pixels"));
}

TEST(Resize, GivesMasksOnlyValuesThatTheyHave) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyPairs()) | Resize{.size = 9, .masks = {"mask"}});
  EXPECT_EQ(dataset.spec().ToString(), "{image: uint8[3, 9, 9], mask: int64[1, 9, 9]}");
  Element pair = PairOf(1, 30, 40);
  for (int64_t& value : pair.arrays[1].values<int64_t>()) value = value % 2 ? 1000 : -7;
  STOKER_ASSERT_OK_AND_ASSIGN(const Element out, TransformTester(dataset).Apply(std::move(pair)));
  EXPECT_THAT(out.arrays[1].values<int64_t>(), testing::Each(testing::AnyOf(1000, -7)));
}

TEST(Resize, MovesMasksWithImages) {
  ExpectMovesMasksWithImages(Resize{.size = 11, .interpolation = "nearest", .masks = {"mask"}});
}

TEST(Resize, RefusesPairsOfDifferentSizes) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                              Result<Dataset>(EmptyPairs()) | Resize{.size = 9, .masks = {"mask"}});
  Element pair = PairOf(1, 30, 40);
  pair.arrays[1] = Array::Allocate(DType::kInt64, {1, 30, 41});
  EXPECT_THAT(TransformTester(dataset).Apply(std::move(pair)),
              FailsWith(StatusCode::kInvalidArgument, "are 30 x 40 and 30 x 41"));
}

TEST(Resize, RowsGiveTheBytesOfElements) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat32})
    ExpectRowsAndElementsAgree(Resize{.height = 4, .width = 9}, dtype, {3, 5, 7});
  ExpectRowsAndElementsAgree(Resize{.size = 4, .interpolation = "nearest"}, DType::kInt64,
                             {3, 5, 7});
}

TEST(Resize, IsRefusedBeforeTheFirstElement) {
  const Shape shape{3, 8, 8};
  ExpectRefused(Resize{}, DType::kUInt8, shape, "give size, or height and width");
  ExpectRefused(Resize{.height = 4}, DType::kUInt8, shape, "give size, or height and width");
  ExpectRefused(Resize{.size = 4, .shorter_side = 4}, DType::kUInt8, shape,
                "give shorter_side, size, or height and width");
  ExpectRefused(Resize{.size = 4}, DType::kInt16, shape, "bilinear takes uint8 or float32");
  ExpectRefused(Resize{.size = 4, .interpolation = "linear"}, DType::kUInt8, shape,
                "interpolation is 'linear'");
  ExpectRefused(Resize{.size = 4, .masks = {"image"}}, DType::kUInt8, shape, "is named twice");
  ExpectRefused(Resize{.size = 4}, DType::kUInt8, {8, 3, 8, 8}, "put resize before batch");
}

}  // namespace stoker::resize_test
