// A region is a crop of the whole, of every format and whatever happened to the file; and what a
// region is refused for.
#include <filesystem>
#include <fstream>

#include "stoker/image/decode.h"
#include "stoker/image/decode_differential.h"
#include "stoker/image/decode_testing.h"

namespace stoker::decode_regions_test {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

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

}  // namespace stoker::decode_regions_test
