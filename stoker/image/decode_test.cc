#include "stoker/image/decode.h"

#include <filesystem>
#include <fstream>

#include "stoker/image/decode_differential.h"
#include "stoker/image/decode_testing.h"

namespace stoker {
namespace {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

// A TIFF structure with one entry, the orientation, in either byte order.
std::vector<uint8_t> ExifOf(uint8_t orientation, bool big_endian) {
  if (big_endian)
    return {'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 1, 18, 0,
            3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0, 0,  0};
  return {'I', 'I', 42, 0, 8, 0,           0, 0, 1, 0, 18, 1, 3,
          0,   1,   0,  0, 0, orientation, 0, 0, 0, 0, 0,  0, 0};
}

std::string GreyPng(int width, int height, std::vector<uint8_t> samples,
                    std::vector<uint8_t> exif = {}) {
  return EncodePng(width, height,
                   {.color_type = SPNG_COLOR_TYPE_GRAYSCALE, .exif = std::move(exif)}, samples);
}

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

TEST(DecodeImage, ARegionOfATurnedPictureIsACropOfTheTurnedWhole) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string jpeg = EncodeJpeg(MakePicture(53, 38, 3),
                                        {.sampling = Sampling(2, 2), .orientation = orientation});
    for (const int fast_scale : {1, 2, 4, 8}) ExpectEveryRegionIsACrop(jpeg, {}, fast_scale);
    ExpectEveryRegionIsACrop(jpeg, {.channels = ImageChannels::kGrey});
    if (HasFatalFailure()) FAIL() << "orientation " << orientation;
  }
}

TEST(DecodeImage, ARegionOfAPngIsACropOfTheWholeInEveryColourTypeAndDepth) {
  constexpr uint8_t kGrey = SPNG_COLOR_TYPE_GRAYSCALE, kRgb = SPNG_COLOR_TYPE_TRUECOLOR,
                    kPalette = SPNG_COLOR_TYPE_INDEXED,
                    kGreyAlpha = SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                    kRgba = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
  constexpr std::pair<uint8_t, uint8_t> kTypes[] = {
      {kGrey, 1},    {kGrey, 2},      {kGrey, 4},       {kGrey, 8},    {kGrey, 16},
      {kRgb, 8},     {kRgb, 16},      {kPalette, 1},    {kPalette, 2}, {kPalette, 4},
      {kPalette, 8}, {kGreyAlpha, 8}, {kGreyAlpha, 16}, {kRgba, 8},    {kRgba, 16}};
  for (const auto& [type, depth] : kTypes) {
    const int samples = type == kRgb ? 3 : type == kRgba ? 4 : type == kGreyAlpha ? 2 : 1;
    const int row_bytes = (23 * samples * depth + 7) / 8;
    const TestPicture noise = MakePicture(row_bytes, 17, 1);
    for (const bool interlaced : {false, true}) {
      PngSettings settings{.color_type = type, .bit_depth = depth, .interlaced = interlaced};
      settings.transparent_black = type == kGrey || type == kRgb;
      for (int i = 0; type == kPalette && i < 4 << depth; ++i)
        settings.palette.push_back(static_cast<uint8_t>(HashOf(static_cast<uint32_t>(i), 2, 2)));
      const std::string png = EncodePng(23, 17, settings, noise.samples);
      ExpectEveryRegionIsACrop(png, {.channels = ImageChannels::kAsStored});
      ExpectEveryRegionIsACrop(png,
                               {.channels = ImageChannels::kGrey, .background = {{{7, 99, 250}}}});
      if (type == kPalette || type == kGrey)
        ExpectEveryRegionIsACrop(png, {.channels = ImageChannels::kIndex16});
      if ((type == kPalette || type == kGrey) && depth <= 8)
        ExpectEveryRegionIsACrop(png, {.channels = ImageChannels::kIndex});
      if (HasFatalFailure()) FAIL() << "type " << int{type} << ", " << int{depth} << " bits";
    }
  }
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

TEST(DecodeImage, ARegionOfAPnmIsACropOfTheWhole) {
  const TestPicture grey = MakePicture(21, 18, 1), colour = MakePicture(21, 18, 3),
                    wide = MakePicture(42, 18, 1);
  const auto text = [](const TestPicture& p) {
    return std::string(p.samples.begin(), p.samples.end());
  };
  ExpectEveryRegionIsACrop("P5 21 18 255\n" + text(grey));
  ExpectEveryRegionIsACrop("P6 21 18 255\n" + text(colour));
  ExpectEveryRegionIsACrop("P5 21 18 65535\n" + text(wide), {.channels = ImageChannels::kGrey});
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

struct DetectCase {
  const char* name;
  std::string bytes;
  StatusCode code;
  const char* says;
};
void PrintTo(const DetectCase& c, std::ostream* out) { *out << c.name; }
class OtherFormat : public testing::TestWithParam<DetectCase> {};

TEST_P(OtherFormat, IsRefusedByName) {
  EXPECT_THAT(ProbeImage(BytesOf(GetParam().bytes), "p.jpg"),
              FailsWith(GetParam().code, GetParam().says));
}

constexpr StatusCode kOther = StatusCode::kUnimplemented;
const DetectCase kOtherFormats[] = {
    {"Gif", "GIF89a...", kOther,
     "p.jpg: a GIF picture; Stoker reads JPEG, PNG, BMP, WebP and PNM: convert it, or leave it "
     "out"},
    {"TiffLittle", "II*\0\x08"s, kOther, "a TIFF picture"},
    {"TiffBig", "MM\0*\0"s, kOther, "a TIFF picture"},
    {"Avif",
     "\0\0\0\x20"
     "ftypavif"s,
     kOther, "an AVIF picture"},
    {"Heic",
     "\0\0\0\x20"
     "ftypheic"s,
     kOther, "a HEIC picture"},
    {"Mp4",
     "\0\0\0\x20"
     "ftypisom"s,
     kOther, "an MP4 or QuickTime file"},
    {"JpegXl", "\xff\x0a\1", kOther, "a JPEG XL codestream"},
    {"Jpeg2000", "\0\0\0\x0cjP  \r\n"s, kOther, "a JPEG 2000 picture"},
    {"Pam", "P7\nWIDTH 1", kOther, "a PAM picture"},
    {"Svg", "<svg xmlns", kOther, "an SVG drawing"},
    {"Html", "<!DOCTYPE html>", kOther, "an HTML page, as a failed download leaves"},
    {"Empty", "", StatusCode::kDataLoss, "p.jpg: byte 0: the file is empty"},
    {"ZeroBytes", std::string(600, '\0'), StatusCode::kDataLoss,
     "p.jpg: byte 0: no picture that is known begins with 00 00 00 00 00 00 00 00"},
    {"Text", "hi", StatusCode::kDataLoss, "begins with 68 69; Stoker reads JPEG"},
    {"RiffButNoWebp", "RIFF\x20\0\0\0WAVEfmt "s, StatusCode::kDataLoss, "no picture that is known"},
};
INSTANTIATE_TEST_SUITE_P(DetectImageFormat, OtherFormat, testing::ValuesIn(kOtherFormats),
                         [](const auto& c) { return c.param.name; });

// A small file of every kind.
std::vector<std::string> SmallFiles() {
  const TestPicture picture = MakePicture(19, 13, 3), with_alpha = MakePicture(19, 13, 4);
  return {
      EncodeJpeg(picture, {.sampling = Sampling(2, 2)}),
      EncodeJpeg(picture, {.sampling = Sampling(2, 1), .restart_interval = 1, .orientation = 6}),
      EncodeJpeg(picture, {.sampling = Sampling(1, 2), .progressive = true}),
      EncodeJpeg(with_alpha, {.colours = JpegColours::kYcck}),
      EncodePng(19, 13, {}, picture.samples),
      EncodePng(19, 13, {.interlaced = true, .exif = ExifOf(3, true)}, picture.samples),
      EncodeWebp(picture, false),
      EncodeWebp(with_alpha, false),
      EncodeWebp(with_alpha, true),
      "P6 19 13 255\n" + std::string(picture.samples.begin(), picture.samples.end()),
      "BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x09\0\0\0\x0d\0\0\0\1\0\x18\0"s +
          std::string(24, '\0') + std::string(28 * 13, 'x')};
}

TEST(DecodeImageRegion, RefusesRegionsOutsideThePicture) {
  const std::string png = GreyPng(3, 2, {1, 2, 3, 4, 5, 6});
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(png), "p.png"));
  DecodeScratch scratch;
  for (const ImageRegion& region : {ImageRegion{0, 0, 0, 1},
                                    {0, 0, 1, 0},
                                    {-1, 0, 1, 1},
                                    {0, -1, 1, 1},
                                    {0, 0, 3, 1},
                                    {0, 0, 1, 4},
                                    {2, 0, 1, 1},
                                    {0, 3, 1, 1},
                                    {1, 1, INT64_MAX, 1},
                                    {1, 1, 1, INT64_MAX}}) {
    const Status status = DecodeImageRegion(BytesOf(png), "p.png", info, region, {}, {}, scratch);
    EXPECT_THAT(status, FailsWith(StatusCode::kInvalidArgument,
                                  "does not lie inside the picture of 3 x 2"));
  }
}

TEST(DecodeImageRegion, RefusesScalesThatTheFormatDoesNotHave) {
  DecodeScratch scratch;
  const std::string png = GreyPng(3, 2, {1, 2, 3, 4, 5, 6});
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(png), "p.png"));
  EXPECT_THAT(
      DecodeRegion(png, info, {0, 0, 1, 1, 2}, {}, scratch),
      FailsWith(StatusCode::kInvalidArgument, "picture: a fast_scale of 2; PNG has 1 only"));
  EXPECT_EQ(scratch.held_bytes(), 0u);
  const std::string jpeg = EncodeJpeg(MakePicture(8, 8, 3));
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo of_jpeg, ProbeImage(BytesOf(jpeg), "p.jpg"));
  EXPECT_THAT(DecodeRegion(jpeg, of_jpeg, {0, 0, 1, 1, 3}, {}, scratch),
              FailsWith(StatusCode::kInvalidArgument, "a fast_scale of 3; JPEG has 1, 2, 4 and 8"));
}

TEST(DecodeImageRegion, RefusesAPictureThatIsNotTheOneThatWasProbed) {
  DecodeScratch scratch;
  for (const std::string& file : SmallFiles()) {  // all of 19 x 13, or turned; one BMP of 9 x 13
    STOKER_ASSERT_OK_AND_ASSIGN(ImageInfo info, ProbeImage(BytesOf(file), "picture"));
    info.height += 5;
    info.width += 5;
    EXPECT_THAT(DecodeRegion(file, info, {13, 13, 1, 1}, {}, scratch),
                FailsWith(StatusCode::kDataLoss, "the file has changed meanwhile"));
  }
}

TEST(DecodeImageRegion, AsksForNoMemoryOnceWarm) {
  for (const bool progressive : {false, true}) {
    const std::string jpeg =
        EncodeJpeg(MakePicture(500, 375, 3),
                   {.sampling = Sampling(2, 2), .progressive = progressive, .orientation = 6});
    STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(jpeg), "p.jpg"));
    int asked = 0;
    DecodeScratch scratch([&](size_t bytes) {
      ++asked;
      return Buffer::Allocate(bytes);
    });
    for (int i = 0; i < 2; ++i)
      STOKER_ASSERT_OK(DecodeRegion(jpeg, info, WholeImage(info), {}, scratch));
    const int warm = asked;
    for (int i = 0; i < 3; ++i)
      STOKER_ASSERT_OK(DecodeRegion(jpeg, info, {10, 20, 224, 224}, {}, scratch));
    EXPECT_EQ(asked, warm);
    EXPECT_LE(scratch.held_bytes(), size_t{4} << 20);
  }
}

TEST(DecodeImageRegion, MemoryThatIsNotThereIsAnError) {
  DecodeScratch scratch([](size_t) -> Buffer { throw std::bad_alloc(); });
  for (const std::string& file :
       {EncodeJpeg(MakePicture(64, 64, 3), {.progressive = true}), GreyPng(3, 1, {1, 2, 3})}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(file), "p"));
    EXPECT_THAT(DecodeRegion(file, info, WholeImage(info), {}, scratch),
                FailsWith(StatusCode::kResourceExhausted, "no memory to decode"));
  }
}

TEST(DecodeImage, RegionsAreCropsOfTheWholeWhereverAFileIsCut) {
  for (const std::string& file : SmallFiles()) {
    for (size_t n = 0; n <= file.size(); ++n) {
      for (const bool strict : {false, true}) {
        const std::string cut = file.substr(0, n);
        ASSERT_EQ(WrongWithRegions(BytesOf(cut), {.jpeg_warnings_are_errors = strict}, n, 2), "")
            << n << " of " << file.size() << " bytes";
      }
    }
  }
}

TEST(DecodeImage, RegionsAreCropsOfTheWholeWhicheverByteIsFlipped) {
  for (const std::string& file : SmallFiles()) {
    for (size_t i = 0; i < file.size(); ++i) {
      for (const int mask : {0xff, 0x01, 0x10}) {
        std::string flipped = file;
        flipped[i] = static_cast<char>(flipped[i] ^ mask);
        const DecodeOptions options{.background = {{{1, 2, 3}}},
                                    .jpeg_warnings_are_errors = false,
                                    .limits = {.max_pixels = 1 << 18}};
        ASSERT_EQ(WrongWithRegions(BytesOf(flipped), options, i, 1), "")
            << "byte " << i << " of " << file.size() << ", xor " << mask;
      }
    }
  }
}

TEST(DecodeImage, MutatedJpegsNeitherCrashNorBreakTheRule) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    std::string jpeg = EncodeJpeg(MakePicture(70, 45, 3, static_cast<uint32_t>(seed)),
                                  {.sampling = seed % 3 == 0   ? Sampling(2, 2)
                                               : seed % 3 == 1 ? Sampling(1, 2)
                                                               : Sampling(2, 1),
                                   .progressive = seed % 5 == 0,
                                   .separate_scans = seed % 7 == 0,
                                   .restart_interval = static_cast<int>(seed % 4)});
    uint64_t state = seed;
    const int64_t flips = 1 + internal::NextBelow(state, 12);  // of bits, as zzuf does
    for (int64_t i = 0; i < flips; ++i) {
      const auto at =
          static_cast<size_t>(internal::NextBelow(state, static_cast<int64_t>(jpeg.size())));
      jpeg[at] = static_cast<char>(jpeg[at] ^ 1 << internal::NextBelow(state, 8));
    }
    const DecodeOptions options{.jpeg_warnings_are_errors = seed % 4 == 0,
                                .limits = {.max_pixels = 1 << 20}};
    ASSERT_EQ(WrongWithRegions(BytesOf(jpeg), options, seed, 3), "") << "seed " << seed;
  }
}

// Other people's pictures, good and bad, where they are installed.
void ExpectRuleInFolder(const std::filesystem::path& folder, std::string_view package) {
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "Debian's " << package << " is not installed";
  int good = 0, bad = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.file_size() > 2'000'000) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    const DecodeOptions options{.jpeg_warnings_are_errors = false,
                                .limits = {.max_pixels = 2'000'000}};
    EXPECT_EQ(WrongWithRegions(BytesOf(file), options, 1, 2), "") << entry.path();
    DecodeImage(BytesOf(file), "p", options).ok() ? ++good : ++bad;
  }
  EXPECT_GT(good, 50);
  EXPECT_GT(bad, 0);
}

TEST(DecodeImage, RegionsAreCropsOfTheWholeInGdkPixbufsPictures) {
  ExpectRuleInFolder("/usr/libexec/installed-tests/gdk-pixbuf", "gdk-pixbuf-tests");
}

TEST(DecodeImage, RegionsAreCropsOfTheWholeInLibjxlsPictures) {
  ExpectRuleInFolder("/usr/share/libjxl-testdata", "libjxl-testdata");
}

}  // namespace
}  // namespace stoker
