#include "stoker/image/decode.h"

#include "stoker/image/decode_testing.h"

namespace stoker::decode_test {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

// Stored as the rows 1 2 3 and 4 5 6. Where row 0 and column 0 of it are on the upright picture is
// what the tag says (CIPA DC-008, Orientation): 6, for one, is "right side, top".
struct Upright {
  int64_t height, width;
  std::vector<int> samples;
};
const Upright kUpright[] = {
    {2, 3, {1, 2, 3, 4, 5, 6}}, {2, 3, {3, 2, 1, 6, 5, 4}}, {2, 3, {6, 5, 4, 3, 2, 1}},
    {2, 3, {4, 5, 6, 1, 2, 3}}, {3, 2, {1, 4, 2, 5, 3, 6}}, {3, 2, {4, 1, 5, 2, 6, 3}},
    {3, 2, {6, 3, 5, 2, 4, 1}}, {3, 2, {3, 6, 2, 5, 1, 4}},
};

TEST(DecodeImage, TurnsPicturesUprightAsExifSays) {
  const DecodeOptions grey{.channels = ImageChannels::kGrey};
  for (uint8_t orientation = 1; orientation <= 8; ++orientation) {
    const Upright& want = kUpright[orientation - 1];
    for (const bool big_endian : {false, true}) {
      const std::string png = GreyPng(3, 2, {1, 2, 3, 4, 5, 6}, ExifOf(orientation, big_endian));
      STOKER_ASSERT_OK_AND_ASSIGN(const Array image, DecodeImage(BytesOf(png), "p.png", grey));
      EXPECT_EQ(image.shape(), (Shape{want.height, want.width, 1})) << int{orientation};
      EXPECT_THAT(Values(image), testing::ElementsAreArray(want.samples)) << int{orientation};
    }
  }
}

TEST(DecodeImage, LeavesPicturesAsStoredWhenTold) {
  const std::string png = GreyPng(3, 2, {1, 2, 3, 4, 5, 6}, ExifOf(6, true));
  const DecodeOptions stored{.channels = ImageChannels::kAsStored, .apply_orientation = false};
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(png), "p.png", stored));
  EXPECT_EQ(info.orientation, 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array image, DecodeImage(BytesOf(png), "p.png", stored));
  EXPECT_EQ(image.shape(), (Shape{2, 3, 1}));
  EXPECT_THAT(Values(image), testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(DecodeImage, OrientationIsFoundInJpegAndWebpToo) {
  const std::string jpeg = EncodeJpeg(MakePicture(20, 9, 3), {.orientation = 8});
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo of_jpeg, ProbeImage(BytesOf(jpeg), "p.jpg"));
  EXPECT_EQ(of_jpeg.orientation, 8);
  EXPECT_EQ(of_jpeg.width, 9);
  std::string webp = EncodeWebp(MakePicture(20, 9, 3), /*lossless=*/true);
  const std::vector<uint8_t> exif = ExifOf(5, false);
  webp += "EXIF" + std::string(1, static_cast<char>(exif.size())) + "\0\0\0"s +
          std::string(exif.begin(), exif.end());
  webp[4] = static_cast<char>(webp.size() - 8);
  webp[5] = static_cast<char>((webp.size() - 8) >> 8);
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo of_webp, ProbeImage(BytesOf(webp), "p.webp"));
  EXPECT_EQ(of_webp.orientation, 5);
  EXPECT_EQ(of_webp.width, 9);
}

TEST(DecodeImage, GivesTheNumbersThatAPngStoresWhereTheyAreAskedFor) {
  constexpr uint8_t kGrey = SPNG_COLOR_TYPE_GRAYSCALE, kPalette = SPNG_COLOR_TYPE_INDEXED;
  const std::vector<uint8_t> colours(64, 200);  // that they are all alike does not matter
  for (const bool interlaced : {false, true}) {
    const auto decode = [&](uint8_t type, uint8_t depth, const std::vector<uint8_t>& rows) {
      PngSettings settings{.color_type = type, .bit_depth = depth, .interlaced = interlaced};
      if (type == kPalette)
        settings.palette.assign(colours.begin(), colours.begin() + (4 << depth));
      const int width = depth == 16 ? 2 : 8 / depth;
      const std::string png = EncodePng(width, 2, settings, rows);
      return Values(*DecodeImage(BytesOf(png), "p", {.channels = ImageChannels::kIndex16}));
    };
    // Two bytes each, the low one first where the CPU has it so; all that fit into one here.
    const auto low = [](const std::vector<uint8_t>& bytes) {
      std::vector<int> values;
      for (size_t i = 0; i < bytes.size(); i += 2) {
        uint16_t value;
        std::memcpy(&value, &bytes[i], 2);
        values.push_back(value);
      }
      return values;
    };
    EXPECT_THAT(low(decode(kPalette, 1, {0b01100101, 0b11110000})),
                testing::ElementsAre(0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    EXPECT_THAT(low(decode(kPalette, 2, {0b00011011, 0b11100100})),
                testing::ElementsAre(0, 1, 2, 3, 3, 2, 1, 0));
    EXPECT_THAT(low(decode(kGrey, 4, {0x5f, 0x0a})), testing::ElementsAre(5, 15, 0, 10));
    EXPECT_THAT(low(decode(kGrey, 8, {7, 255})), testing::ElementsAre(7, 255));
    const uint16_t wide[] = {1000, 65535, 0, 256};
    std::vector<uint8_t> rows(sizeof(wide));
    std::memcpy(rows.data(), wide, sizeof(wide));
    EXPECT_THAT(low(decode(kGrey, 16, rows)), testing::ElementsAre(1000, 65535, 0, 256));
  }
}

TEST(DecodeImage, RefusesNumbersThatAreColours) {
  const DecodeOptions indices{.channels = ImageChannels::kIndex};
  const std::string rgb = EncodePng(1, 1, {}, {1, 2, 3});
  EXPECT_THAT(ProbeImage(BytesOf(rgb), "p.png", indices).status(),
              FailsWith(StatusCode::kInvalidArgument, "p.png: byte 25: a PNG of colour type 2"));
  EXPECT_THAT(ProbeImage(BytesOf(EncodeJpeg(MakePicture(4, 4, 3))), "p.jpg", indices).status(),
              FailsWith(StatusCode::kInvalidArgument, "p.jpg: a JPEG picture; values as they are"));
}

TEST(DecodeImage, LaysTransparentPngsOverABackground) {
  const DecodeOptions over{.background = {{{100, 200, 0}}}};
  const std::string rgba = EncodePng(2, 1, {.color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA},
                                     {10, 20, 30, 0, 50, 60, 70, 51});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array a, DecodeImage(BytesOf(rgba), "p.png", over));
  EXPECT_THAT(Values(a), testing::ElementsAre(100, 200, 0, 90, 172, 14));
  const std::string palette = EncodePng(
      2, 1, {.color_type = SPNG_COLOR_TYPE_INDEXED, .palette = {1, 2, 3, 255, 9, 9, 9, 0}}, {0, 1});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array b, DecodeImage(BytesOf(palette), "p.png", over));
  EXPECT_THAT(Values(b), testing::ElementsAre(1, 2, 3, 100, 200, 0));
  const std::string keyed =
      EncodePng(2, 1, {.color_type = SPNG_COLOR_TYPE_GRAYSCALE, .transparent_black = true}, {0, 5});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array c, DecodeImage(BytesOf(keyed), "p.png", over));
  EXPECT_THAT(Values(c), testing::ElementsAre(100, 200, 0, 5, 5, 5));
}

TEST(DecodeImage, GivesTheChannelsThatAreAskedFor) {
  const std::string grey = "P5 2 1 255\n\x0a\xc8", colour = "P6 2 1 255\n\xff\0\0\x0a\x14\x1e"s;
  const auto decode = [](const std::string& pnm, ImageChannels channels) {
    return Values(*DecodeImage(BytesOf(pnm), "p", {.channels = channels}));
  };
  EXPECT_THAT(decode(grey, ImageChannels::kAsStored), testing::ElementsAre(10, 200));
  EXPECT_THAT(decode(grey, ImageChannels::kGrey), testing::ElementsAre(10, 200));
  EXPECT_THAT(decode(grey, ImageChannels::kRgb), testing::ElementsAre(10, 10, 10, 200, 200, 200));
  EXPECT_THAT(decode(colour, ImageChannels::kAsStored),
              testing::ElementsAre(255, 0, 0, 10, 20, 30));
  EXPECT_THAT(decode(colour, ImageChannels::kGrey), testing::ElementsAre(76, 18));  // as PIL's L
}

TEST(ProbeImage, ReadsHeadersOnly) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ImageInfo png,
      ProbeImage(BytesOf(EncodePng(5, 4, {.bit_depth = 16}, std::vector<uint8_t>(120))), "p"));
  EXPECT_EQ(png.format, ImageFormat::kPng);
  EXPECT_EQ(png.width, 5);
  EXPECT_EQ(png.height, 4);
  EXPECT_EQ(png.channels, 3);
  EXPECT_EQ(png.bits, 16);
  EXPECT_EQ(png.max_fast_scale, 1);
  EXPECT_FALSE(png.alpha);
}

}  // namespace stoker::decode_test
