#include "stoker/image/jpeg.h"

#include <cmath>

#include "stoker/image/decode_differential.h"
#include "stoker/image/decode_testing.h"
#include "stoker/image/jpeg_header.h"
#include "stoker/image/libjpeg_decoder.h"

namespace stoker::jpeg_test {

// What libjpeg makes of a whole picture with nothing but its defaults: the oracle.
std::vector<uint8_t> PlainDecode(std::string_view jpeg, J_COLOR_SPACE colours, int fast_scale) {
  jpeg_decompress_struct cinfo = {};
  jpeg_error_mgr errors;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&cinfo);
  jpeg_mem_src(&cinfo, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&cinfo, TRUE);
  cinfo.out_color_space = colours;
  cinfo.scale_num = 1;
  cinfo.scale_denom = static_cast<unsigned>(fast_scale);
  jpeg_start_decompress(&cinfo);
  const size_t stride = size_t{cinfo.output_width} * cinfo.output_components;
  std::vector<uint8_t> pixels(stride * cinfo.output_height);
  while (cinfo.output_scanline < cinfo.output_height) {
    JSAMPROW row = pixels.data() + cinfo.output_scanline * stride;
    jpeg_read_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_decompress(&cinfo);
  jpeg_destroy_decompress(&cinfo);
  return pixels;
}

// The same in RGB or grey; of CMYK, which libjpeg leaves as it is (inverted, for Adobe's marker is
// there), by the formulas of jpeg.h and image_codec.h.
std::vector<uint8_t> PlainPixels(std::string_view jpeg, int stored_channels, bool grey,
                                 int fast_scale) {
  if (stored_channels != 4) return PlainDecode(jpeg, grey ? JCS_GRAYSCALE : JCS_RGB, fast_scale);
  const std::vector<uint8_t> cmyk = PlainDecode(jpeg, JCS_CMYK, fast_scale);
  std::vector<uint8_t> pixels;
  for (size_t i = 0; i < cmyk.size(); i += 4) {
    double rgb[3];
    for (size_t c = 0; c < 3; ++c) rgb[c] = std::round(cmyk[i + c] * cmyk[i + 3] / 255.0);
    if (grey) {
      pixels.push_back(static_cast<uint8_t>(
          std::floor((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471) / 65536 + 0.5)));
    } else {
      for (const double value : rgb) pixels.push_back(static_cast<uint8_t>(value));
    }
  }
  return pixels;
}

struct KindCase {
  const char* name;
  JpegSettings settings;
  int channels = 3;
};
void PrintTo(const KindCase& c, std::ostream* out) { *out << c.name; }
class JpegKind : public testing::TestWithParam<KindCase> {
 protected:
  static std::string Encode(int width, int height) {
    return EncodeJpeg(MakePicture(width, height, GetParam().channels), GetParam().settings);
  }
};

constexpr std::pair<int, int> kSizes[] = {{1, 1},   {2, 3},   {7, 5},   {8, 8},
                                          {17, 16}, {33, 31}, {67, 83}, {101, 64}};

TEST_P(JpegKind, GivesThePixelsOfLibjpegsPlainDecodeAtEveryScale) {
  DecodeScratch scratch;
  for (const auto& [width, height] : kSizes) {
    const std::string jpeg = Encode(width, height);
    for (const bool grey : {false, true}) {
      const DecodeOptions options{.channels = grey ? ImageChannels::kGrey : ImageChannels::kRgb};
      STOKER_ASSERT_OK_AND_ASSIGN(const auto info, ProbeImage(BytesOf(jpeg), "p.jpg", options));
      EXPECT_EQ(info.width, width);
      EXPECT_EQ(info.height, height);
      for (const int scale : {1, 2, 4, 8}) {
        STOKER_ASSERT_OK_AND_ASSIGN(
            const auto got, DecodeRegion(jpeg, info, WholeImage(info, scale), options, scratch));
        EXPECT_TRUE(got == PlainPixels(jpeg, GetParam().channels, grey, scale))
            << width << " x " << height << (grey ? " in grey" : "") << " at 1/" << scale;
      }
    }
  }
}

// Baseline pictures are another decoder's.
TEST_P(JpegKind, ARegionByLibjpegIsACropOfTheWholeAtEveryAlignmentAndScale) {
  const RegionDecoder by_libjpeg = [](auto bytes, auto name, const auto& info, const auto& region,
                                      const auto& options, const auto& out, auto& scratch) {
    scratch.Reset();
    return DecodeWithLibjpeg({bytes, name}, info, region, options, out, scratch);
  };
  for (const auto& [width, height] : kSizes) {
    for (const int fast_scale : {1, 2, 4, 8}) {
      ExpectEveryRegionIsACrop(Encode(width, height), {}, fast_scale, by_libjpeg);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(JpegKind, ARegionIsACropOfTheWholeAtEveryAlignmentAndScale) {
  for (const auto& [width, height] : kSizes) {
    const std::string jpeg = Encode(width, height);
    for (const int fast_scale : {1, 2, 4, 8}) {
      ExpectEveryRegionIsACrop(jpeg, {}, fast_scale);
      ExpectEveryRegionIsACrop(jpeg, {.channels = ImageChannels::kGrey}, fast_scale);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(JpegKind, EveryProperPrefixIsAnError) {
  const std::string good = Encode(37, 21);
  STOKER_EXPECT_OK(DecodeImage(BytesOf(good), "p.jpg"));
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_THAT(DecodeImage(BytesOf(good.substr(0, n)), "p.jpg"),
                FailsWith(StatusCode::kDataLoss, "p.jpg: "))
        << n << " of " << good.size();
  }
}

const KindCase kKinds[] = {
    {"Grey", {.colours = JpegColours::kGrey}, 1},
    {"GreyWithFactors", {.colours = JpegColours::kGrey, .sampling = {{2, 2}}}, 1},
    {"GreyProgressive", {.colours = JpegColours::kGrey, .progressive = true}, 1},
    {"Ycc444", {.sampling = Sampling(1, 1)}},
    {"Ycc422", {.sampling = Sampling(2, 1)}},
    {"Ycc420", {.sampling = Sampling(2, 2)}},
    {"Ycc440", {.sampling = Sampling(1, 2)}},
    {"Ycc411", {.sampling = Sampling(4, 1)}},
    {"Ycc410", {.sampling = Sampling(4, 2)}},
    {"Ycc441", {.sampling = Sampling(1, 4)}},
    {"YccAsymmetric", {.sampling = {{2, 2}, {2, 1}, {1, 2}}}},
    {"YccLumaSubsampled", {.sampling = {{1, 1}, {2, 2}, {2, 2}}}},
    {"YccOneChromaSubsampled", {.sampling = {{2, 2}, {2, 2}, {1, 1}}}},
    {"Ycc420Progressive", {.sampling = Sampling(2, 2), .progressive = true}},
    {"Ycc422Progressive", {.sampling = Sampling(2, 1), .progressive = true}},
    {"Ycc440Progressive", {.sampling = Sampling(1, 2), .progressive = true}},
    {"Ycc444Progressive", {.sampling = Sampling(1, 1), .progressive = true}},
    {"Ycc420SeparateScans", {.sampling = Sampling(2, 2), .separate_scans = true}},
    {"Ycc420Restarts", {.sampling = Sampling(2, 2), .restart_interval = 3}},
    {"Ycc444Restarts", {.sampling = Sampling(1, 1), .restart_interval = 1}},
    {"Ycc420ProgressiveRestarts",
     {.sampling = Sampling(2, 2), .progressive = true, .restart_interval = 2}},
    {"Ycc420Optimized", {.sampling = Sampling(2, 2), .optimize = true}},
    {"Rgb", {.colours = JpegColours::kRgb}},
    {"RgbBlueSubsampled", {.colours = JpegColours::kRgb, .sampling = {{2, 2}, {2, 2}, {1, 1}}}},
    {"Cmyk", {.colours = JpegColours::kCmyk}, 4},
    {"Ycck420", {.colours = JpegColours::kYcck, .sampling = {{2, 2}, {1, 1}, {1, 1}, {2, 2}}}, 4},
    {"YcckProgressive", {.colours = JpegColours::kYcck, .progressive = true}, 4},
};
INSTANTIATE_TEST_SUITE_P(DecodeJpeg, JpegKind, testing::ValuesIn(kKinds),
                         [](const auto& c) { return c.param.name; });

// The byte after the first `marker` (its second byte).
size_t Behind(std::string_view jpeg, char marker) {
  const char text[] = {'\xff', marker};
  return jpeg.find(std::string_view(text, 2)) + 2;
}

std::string Good() { return EncodeJpeg(MakePicture(40, 24, 3), {.sampling = Sampling(2, 2)}); }

// A good file in which bytes after the frame header's marker (length, bits, height, width, ...)
// are others.
std::string WithFrame(char marker, size_t at, std::string_view bytes) {
  std::string jpeg = Good();
  const size_t frame = Behind(jpeg, '\xc0');
  jpeg[frame - 1] = marker;
  return jpeg.replace(frame + at, bytes.size(), bytes);
}

using namespace std::string_view_literals;  // NOLINT: for texts with zero bytes

struct BrokenCase {
  const char* name;
  std::string bytes;
  StatusCode code;
  const char* says;
};
void PrintTo(const BrokenCase& c, std::ostream* out) { *out << c.name; }
class JpegBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(JpegBroken, SaysWhatAndWhere) {
  EXPECT_THAT(DecodeImage(BytesOf(GetParam().bytes), "p.jpg"),
              FailsWith(GetParam().code, GetParam().says));
}

const BrokenCase kBroken[] = {
    {"OnlyTheStart", "\xff\xd8", StatusCode::kDataLoss,
     "p.jpg: byte 2: the JPEG ends before its first scan; the file was cut short"},
    {"NoPicture", "\xff\xd8\xff\xd9", StatusCode::kDataLoss,
     "p.jpg: byte 2: the picture ends (EOI) before its first scan; the JPEG is damaged"},
    {"TwelveBits", WithFrame('\xc1', 2, "\x0c"), StatusCode::kUnimplemented,
     "a JPEG with 12 bits a sample; Stoker reads baseline and progressive ones of 8 bits"},
    {"SevenBits", WithFrame('\xc0', 2, "\x07"), StatusCode::kDataLoss, "7 bits a sample"},
    {"Lossless", WithFrame('\xc3', 0, ""), StatusCode::kUnimplemented, "lossless coding (SOF3)"},
    {"Hierarchical", WithFrame('\xc5', 0, ""), StatusCode::kUnimplemented, "hierarchical coding"},
    {"Arithmetic", WithFrame('\xc9', 0, ""), StatusCode::kUnimplemented, "arithmetic coding"},
    {"JpegLs", WithFrame('\xf7', 0, ""), StatusCode::kUnimplemented, "JPEG-LS (SOF55)"},
    {"HeightLater", WithFrame('\xc0', 3, "\0\0"sv), StatusCode::kUnimplemented,
     "a height that follows the first scan (DNL)"},
    {"NoWidth", WithFrame('\xc0', 5, "\0\0"sv), StatusCode::kDataLoss, "a picture of width 0"},
    {"Bomb", WithFrame('\xc0', 3, "\xfa\xfa\xfa\xfa"), StatusCode::kOutOfRange,
     "p.jpg: 64250 x 64250 pixels are more than the 67108864 allowed; scale the picture down"},
    {"TooLargeForItsFile", WithFrame('\xc0', 3, "\x1f\x40\x1f\x40"), StatusCode::kDataLoss,
     "8000 x 8000 pixels announced, too many for a file of "},
    {"TwoComponents", WithFrame('\xc0', 0, "\0\x0e\x08\0\x18\0\x28\x02"sv),
     StatusCode::kUnimplemented, "2 components (not grey, YCbCr, RGB, CMYK or YCCK)"},
    {"ComponentsMissing", WithFrame('\xc0', 7, "\x04"), StatusCode::kDataLoss,
     "a frame header of 17 bytes for 4 components"},
    {"FactorZero", WithFrame('\xc0', 9, "\x02"), StatusCode::kDataLoss, "sampling factors 0 x 2"},
    {"FractionalSampling", WithFrame('\xc0', 9, "\x32\0\x02\x22"sv), StatusCode::kUnimplemented,
     "Fractional sampling not implemented yet; libjpeg does not decode such a JPEG"},
    {"SecondFrame",
     [] {
       std::string jpeg = Good();
       const size_t frame = Behind(jpeg, '\xc0') - 2;
       return jpeg.insert(frame, jpeg.substr(frame, 19));
     }(),
     StatusCode::kDataLoss, "a second frame header"},
};
INSTANTIATE_TEST_SUITE_P(DecodeJpeg, JpegBroken, testing::ValuesIn(kBroken),
                         [](const auto& c) { return c.param.name; });

TEST(DecodeJpeg, ADamagedEntropySegmentIsAnErrorUnlessWarningsAreNone) {
  std::string jpeg = Good();
  jpeg.erase(jpeg.size() - 60, 40);  // out of the middle of the only scan
  EXPECT_THAT(DecodeImage(BytesOf(jpeg), "p.jpg"),
              FailsWith(StatusCode::kDataLoss, "p.jpg: before byte "));
  const DecodeOptions lenient{.jpeg_warnings_are_errors = false};
  STOKER_EXPECT_OK(DecodeImage(BytesOf(jpeg), "p.jpg", lenient));
  ExpectEveryRegionIsACrop(jpeg, lenient);
}

TEST(DecodeJpeg, WithoutWarningsAFileCutShortKeepsTheRowsThatAreThere) {
  const std::string good = EncodeJpeg(MakePicture(64, 64, 3), {.sampling = Sampling(2, 2)});
  const std::string cut = good.substr(0, good.size() - 100);
  const DecodeOptions lenient{.jpeg_warnings_are_errors = false};
  STOKER_ASSERT_OK_AND_ASSIGN(const Array whole, DecodeImage(BytesOf(good), "p.jpg"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array part, DecodeImage(BytesOf(cut), "p.jpg", lenient));
  EXPECT_EQ(part.shape(), whole.shape());
  EXPECT_EQ(std::memcmp(part.data(), whole.data(), 8 * 64 * 3), 0);
  EXPECT_NE(std::memcmp(part.data(), whole.data(), 64 * 64 * 3), 0);
  ExpectEveryRegionIsACrop(cut, lenient);
}

TEST(DecodeJpeg, ARegionAboveTheDamageIsDecoded) {
  const std::string jpeg = EncodeJpeg(MakePicture(64, 64, 3), {.sampling = Sampling(2, 2)});
  const std::string cut = jpeg.substr(0, jpeg.size() - 60);
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(cut), "p.jpg"));
  DecodeScratch scratch;
  STOKER_EXPECT_OK(DecodeRegion(cut, info, {0, 0, 16, 64}, {}, scratch));
  EXPECT_THAT(DecodeRegion(cut, info, {40, 0, 24, 64}, {}, scratch),
              FailsWith(StatusCode::kDataLoss, "the JPEG ends too early; the file was cut short"));
}

// What is made up where restart markers are wrong must not depend on the region either.
TEST(DecodeJpeg, RegionsAreCropsOfTheWholeWhateverHasBecomeOfARestartMarker) {
  const std::string good =
      EncodeJpeg(MakePicture(70, 61, 3), {.sampling = Sampling(2, 2), .restart_interval = 2});
  const DecodeOptions lenient{.jpeg_warnings_are_errors = false};
  size_t markers = 0;
  for (size_t at = good.find("\xff\xda"); at + 1 < good.size(); ++at) {
    const auto code = static_cast<uint8_t>(good[at + 1]);
    if (good[at] != '\xff' || code < 0xd0 || code > 0xd7) continue;
    ++markers;
    const std::string before = good.substr(0, at), behind = good.substr(at + 2),
                      marker = good.substr(at, 2);
    for (const std::string& other :
         {std::string(), marker + marker, "\xff" + std::string(1, static_cast<char>(code ^ 1)),
          "\xff" + std::string(1, static_cast<char>(code ^ 4)), "xx" + marker}) {
      const std::string bad = before + other + behind;
      for (const DecodeOptions& options : {lenient, DecodeOptions()})
        ASSERT_EQ(WrongWithRegions(BytesOf(bad), options, at, 20), "")
            << "marker " << markers << " at " << at;
    }
    ASSERT_EQ(WrongWithRegions(BytesOf(before + behind.substr(std::min(behind.size(), size_t{9}))),
                               lenient, at, 20),
              "")
        << at;
  }
  EXPECT_EQ(markers, 9u);
}

TEST(DecodeJpeg, CmykWithoutAdobesMarkerIsNotInverted) {
  const TestPicture ink{8, 8, 4, std::vector<uint8_t>(8 * 8 * 4, 0)};  // no ink at all
  std::string jpeg = EncodeJpeg(ink, {.colours = JpegColours::kCmyk});
  STOKER_ASSERT_OK_AND_ASSIGN(const Array inverted, DecodeImage(BytesOf(jpeg), "p.jpg"));
  EXPECT_THAT(Values(inverted), testing::Each(0));
  const size_t adobe = jpeg.find("Adobe");
  jpeg.erase(adobe - 4, 16);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array plain, DecodeImage(BytesOf(jpeg), "p.jpg"));
  EXPECT_THAT(Values(plain), testing::Each(255));
}

TEST(DecodeJpeg, TablesOfThePictureBeforeAreForgotten) {
  DecodeScratch scratch;
  const std::string optimized =
      EncodeJpeg(MakePicture(40, 24, 3, 5), {.sampling = Sampling(2, 2), .optimize = true});
  std::string without_tables = Good();  // libjpeg takes the standard's own where a file has none
  for (size_t at = 0; (at = without_tables.find("\xff\xc4")) != std::string::npos;)
    without_tables.erase(at, 2 + static_cast<size_t>(static_cast<uint8_t>(without_tables[at + 3])));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto info, ProbeImage(BytesOf(optimized), "p.jpg"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto want,
                              DecodeRegion(Good(), info, WholeImage(info), {}, scratch));
  STOKER_EXPECT_OK(DecodeRegion(optimized, info, WholeImage(info), {}, scratch));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto got,
                              DecodeRegion(without_tables, info, WholeImage(info), {}, scratch));
  EXPECT_TRUE(got == want);
}

TEST(DecodeJpeg, ScansWithoutEndAreRefused) {
  const std::string jpeg =
      EncodeJpeg(MakePicture(16, 16, 1), {.colours = JpegColours::kGrey, .progressive = true});
  const size_t scan = jpeg.find("\xff\xda"), next = jpeg.find("\xff\xda", scan + 2);
  std::string many = jpeg.substr(0, scan);
  for (int i = 0; i < 300; ++i) many += jpeg.substr(scan, next - scan);
  many += jpeg.substr(scan);
  EXPECT_THAT(DecodeImage(BytesOf(many), "p.jpg", {.jpeg_warnings_are_errors = false}),
              FailsWith(StatusCode::kDataLoss, "more than 200 scans"));
}

TEST(ReadJpegHeader, GivesFactorsAndWhereTheScanBegins) {
  const std::string jpeg = Good();
  STOKER_ASSERT_OK_AND_ASSIGN(const JpegHeader header, ReadJpegHeader({BytesOf(jpeg), "p.jpg"}));
  EXPECT_EQ(header.num_components, 3);
  EXPECT_EQ(header.components[0].h, 2);
  EXPECT_EQ(header.components[0].v, 2);
  EXPECT_EQ(header.components[2].h, 1);
  EXPECT_FALSE(header.progressive);
  EXPECT_EQ(header.scan_byte, jpeg.find("\xff\xda"));
}

}  // namespace stoker::jpeg_test
