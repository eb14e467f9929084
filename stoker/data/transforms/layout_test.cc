#include "stoker/data/transforms/layout.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/data/transforms/cast.h"

namespace stoker::layout_test {

TEST(Layout, PutsTheChannelsOfAnImageLast) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset last,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {2, 2, 3})) | Layout{});
  EXPECT_EQ(last.spec().ToString(), "{image: uint8[2, 3, 2]}");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array image,
      TransformTester(last).Apply(Array::Of<uint8_t>(
          std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}, {2, 2, 3})));
  EXPECT_TRUE(SameBytes(
      image, Array::Of<uint8_t>(std::vector<uint8_t>{1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16},
                                {2, 3, 2})));
}

TEST(Layout, ChannelsFirstUndoesChannelsLastInEveryDtype) {
  for (const DType dtype : {DType::kUInt8, DType::kBFloat16, DType::kFloat32, DType::kInt64}) {
    SCOPED_TRACE(DTypeName(dtype));
    const Result<Dataset> images = EmptyImages(dtype, {3, 4, 5});
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset last, images | Layout{});
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset back, last | Layout{.to = "channels_first"});
    EXPECT_EQ(back.spec(), images->spec());
    const Array image = CountingRows(1, dtype, {3, 4, 5}).columns[0].Row(0);
    STOKER_ASSERT_OK_AND_ASSIGN(const Array there, TransformTester(last).Apply(image));
    EXPECT_FALSE(SameBytes(there, image));
    STOKER_ASSERT_OK_AND_ASSIGN(const Array again, TransformTester(back).Apply(there));
    EXPECT_TRUE(SameBytes(again, image));
  }
}

TEST(Layout, RowsGiveTheBytesOfElements) {
  for (const char* to : {"channels_last", "channels_first"}) {
    const Dataset input =
        EmptyDataset({{{"image", DType::kUInt8, {3, 5, 2}}, {"label", DType::kInt64, {}}}});
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset layout, Result<Dataset>(input) | Layout{.to = to});
    TransformTester(layout).ExpectRowsGiveTheBytesOfElements(
        CountingRows(4, DType::kUInt8, {3, 5, 2}));
  }
}

TEST(Layout, ABatchIsTurnedImageByImage) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset layout, Result<Dataset>(EmptyImages(DType::kUInt8, {-1, 3, 5, 2})) | Layout{});
  EXPECT_EQ(layout.spec().ToString(), "{image: uint8[?, 5, 2, 3]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset one,
                              Result<Dataset>(EmptyImages(DType::kUInt8, {3, 5, 2})) | Layout{});
  const Array batch = CountingRows(4, DType::kUInt8, {3, 5, 2}).columns[0];
  STOKER_ASSERT_OK_AND_ASSIGN(const Array turned, TransformTester(layout).Apply(batch));
  for (int64_t i = 0; i < 4; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array image, TransformTester(one).Apply(batch.Row(i)));
    EXPECT_TRUE(SameBytes(turned.Row(i), image));
  }
}

TEST(Layout, TheLastOneOnTheWayOfAFieldSaysHowItStands) {
  const Result<Dataset> images = EmptyImages(DType::kUInt8, {3, 5, 2});
  const Result<Dataset> last = images | Layout{};
  EXPECT_FALSE(HasChannelsLast(*images, "image"));
  EXPECT_TRUE(HasChannelsLast(*(last | Cast{} | Batch{.size = 2}), "image"));
  EXPECT_FALSE(HasChannelsLast(*last, "mask"));
  EXPECT_FALSE(HasChannelsLast(*(last | Layout{.to = "channels_first"}), "image"));
}

TEST(Layout, RefusesWhatIsNoImage) {
  EXPECT_THAT((Result<Dataset>(EmptyImages(DType::kUInt8, {28, 28})) | Layout{}).status(),
              FailsWith(StatusCode::kInvalidArgument, "it must be an image, [C, H, W]"));
}

}  // namespace stoker::layout_test
