#include "stoker/image/encode_png.h"

#include "stoker/base/testing.h"
#include "stoker/image/decode.h"
#include "stoker/image/testing.h"

namespace stoker::encode_png_test {

TEST(EncodePng, DecodesToTheSamePixels) {
  for (const int channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{61, 7}, std::pair{8, 300}}) {
      SCOPED_TRACE(testing::Message() << width << " x " << height << " x " << channels);
      const TestPicture picture = MakePicture(width, height, channels);
      const Array pixels =
          Array::Of(std::span<const uint8_t>(picture.samples), {height, width, channels});
      STOKER_ASSERT_OK_AND_ASSIGN(const std::string png, EncodePng(pixels));
      STOKER_ASSERT_OK_AND_ASSIGN(
          const Array again,
          DecodeImage(BytesOf(png), "png", {.channels = ImageChannels::kAsStored}));
      EXPECT_TRUE(SameBytes(again, pixels));
    }
  }
}

TEST(EncodePng, RefusesWhatIsNoPicture) {
  for (const auto& [dtype, shape] :
       {std::pair{DType::kFloat32, Shape{2, 2, 3}}, std::pair{DType::kUInt8, Shape{2, 2}},
        std::pair{DType::kUInt8, Shape{2, 2, 4}}, std::pair{DType::kUInt8, Shape{0, 2, 3}}}) {
    EXPECT_THAT(EncodePng(Array::Allocate(dtype, shape)),
                FailsWith(StatusCode::kInvalidArgument, "must be uint8 [height, width, 1 or 3]"));
  }
}

}  // namespace stoker::encode_png_test
