#include "stoker/image/webp.h"

#include <webp/decode.h>

#include "stoker/image/decode_testing.h"

namespace stoker::webp_test {

Result<Array> Decode(std::string_view webp, const DecodeOptions& options = {}) {
  return DecodeImage(BytesOf(webp), "p.webp", options);
}

TEST(DecodeWebp, GivesThePixelsOfLibwebpsPlainDecode) {
  for (const bool lossless : {false, true}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {33, 31}, {64, 50}}) {
      const std::string webp = EncodeWebp(MakePicture(width, height, 3), lossless);
      int w = 0, h = 0;
      uint8_t* plain =
          WebPDecodeRGB(reinterpret_cast<const uint8_t*>(webp.data()), webp.size(), &w, &h);
      STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode(webp));
      EXPECT_EQ(image.shape(), (Shape{height, width, 3}));
      EXPECT_EQ(std::memcmp(image.data(), plain, image.num_bytes()), 0) << width << " x " << height;
      WebPFree(plain);
    }
  }
}

TEST(DecodeWebp, LosslessPicturesComeBackAsTheyWere) {
  const TestPicture picture = MakePicture(45, 23, 3);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, Decode(EncodeWebp(picture, /*lossless=*/true)));
  EXPECT_TRUE(Values(image) == picture.samples);
}

TEST(DecodeWebp, ARegionIsACropOfTheWhole) {
  for (const bool lossless : {false, true}) {
    for (const int channels : {3, 4}) {
      for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {33, 31}, {64, 50}, {40, 129}}) {
        const std::string webp = EncodeWebp(MakePicture(width, height, channels), lossless);
        ExpectEveryRegionIsACrop(webp);
        ExpectEveryRegionIsACrop(
            webp, {.channels = ImageChannels::kGrey, .background = {{{9, 200, 40}}}});
        if (HasFatalFailure()) FAIL() << channels << " channels" << (lossless ? ", lossless" : "");
      }
    }
  }
}

TEST(DecodeWebp, DropsAlphaOrLaysThePictureOverABackground) {
  TestPicture picture{2, 1, 4, {10, 20, 30, 255, 40, 50, 60, 51}};
  const std::string webp = EncodeWebp(picture, /*lossless=*/true);
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(webp), "p.webp"));
  EXPECT_TRUE(info.alpha);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array dropped, Decode(webp));
  EXPECT_THAT(Values(dropped), testing::ElementsAre(10, 20, 30, 40, 50, 60));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array over, Decode(webp, {.background = {{{255, 0, 100}}}}));
  EXPECT_THAT(Values(over), testing::ElementsAre(10, 20, 30, 212, 10, 92));  // 51 / 255 is a fifth
}

TEST(DecodeWebp, EveryProperPrefixOfAGoodFileIsAnError) {
  for (const bool lossless : {false, true}) {
    const std::string good = EncodeWebp(MakePicture(20, 9, 3), lossless);
    for (size_t n = 0; n < good.size(); ++n) {
      EXPECT_THAT(Decode(good.substr(0, n)), FailsWith(StatusCode::kDataLoss, "p.webp: "))
          << n << " of " << good.size();
    }
  }
}

TEST(DecodeWebp, RefusesAnimations) {
  using namespace std::string_view_literals;  // NOLINT: for texts with zero bytes
  // An extended header (VP8X) with the flag for animation, 4 x 4, and the chunk ANIM.
  std::string webp("RIFF\x2c\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x03\0\0\x03\0\0"sv);
  webp += "ANIM\x06\0\0\0\0\0\0\0\0\0"sv;
  EXPECT_THAT(Decode(webp), FailsWith(StatusCode::kUnimplemented,
                                      "p.webp: an animated WebP; Stoker reads still ones"));
}

TEST(DecodeWebp, SaysWhatIsDamagedAndWhatIsTooLarge) {
  std::string webp = EncodeWebp(MakePicture(64, 64, 3), /*lossless=*/true);
  EXPECT_THAT(Decode(webp, {.limits = {.max_pixels = 4095}}),
              FailsWith(StatusCode::kOutOfRange, "64 x 64 pixels are more than the 4095 allowed"));
  webp[20] = 0;  // the signature of the lossless bit stream
  EXPECT_THAT(Decode(webp), FailsWith(StatusCode::kDataLoss, "the WebP is damaged"));
}

}  // namespace stoker::webp_test
