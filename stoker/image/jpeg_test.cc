#include "stoker/image/jpeg.h"

#include <cstring>

#include "stoker/base/testing.h"
#include "stoker/image/testing.h"

namespace stoker {
namespace {

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

std::vector<uint8_t> Values(const Array& image) {
  const auto values = image.values<uint8_t>();
  return {values.begin(), values.end()};
}

struct KindCase {
  const char* name;
  JpegSettings settings;
  int channels = 3;
};
void PrintTo(const KindCase& c, std::ostream* out) { *out << c.name; }
class JpegKind : public testing::TestWithParam<KindCase> {};

constexpr std::pair<int, int> kSizes[] = {{1, 1},   {2, 3},   {7, 5},   {8, 8},
                                          {17, 16}, {33, 31}, {67, 83}, {101, 64}};

TEST_P(JpegKind, GivesThePixelsOfLibjpegsPlainDecode) {
  if (GetParam().channels == 4) GTEST_SKIP() << "libjpeg has no RGB for it";
  for (const auto& [width, height] : kSizes) {
    const std::string jpeg =
        EncodeJpeg(MakePicture(width, height, GetParam().channels), GetParam().settings);
    STOKER_ASSERT_OK_AND_ASSIGN(const Array image, DecodeImage(BytesOf(jpeg), "p.jpg"));
    EXPECT_EQ(image.shape(), (Shape{height, width, 3}));
    EXPECT_EQ(Values(image), PlainDecode(jpeg, JCS_RGB, 1)) << width << " x " << height;
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Array grey, DecodeImage(BytesOf(jpeg), "p.jpg", {.channels = ImageChannels::kGrey}));
    EXPECT_EQ(Values(grey), PlainDecode(jpeg, JCS_GRAYSCALE, 1)) << width << " x " << height;
  }
}

// Decodes the region and compares it with the same part of the whole.
void ExpectCrop(std::string_view jpeg, const ImageInfo& info, const std::vector<uint8_t>& whole,
                const ImageRegion& region, const DecodeOptions& options, DecodeScratch& scratch) {
  const auto width = FastScaledExtent(info.width, region.fast_scale);
  std::vector<uint8_t> got(static_cast<size_t>(region.height * region.width * info.channels));
  STOKER_ASSERT_OK(DecodeImageRegion(BytesOf(jpeg), "p.jpg", info, region, options,
                                     {got.data(), region.width * info.channels}, scratch));
  for (int64_t y = 0; y < region.height; ++y) {
    const auto row_bytes = static_cast<size_t>(region.width * info.channels);
    const uint8_t* want = whole.data() + ((region.y + y) * width + region.x) * info.channels;
    ASSERT_EQ(std::memcmp(got.data() + static_cast<size_t>(y) * row_bytes, want, row_bytes), 0)
        << "row " << y << " of " << region.width << " x " << region.height << " at x " << region.x
        << ", y " << region.y << ", 1/" << region.fast_scale << " of " << info.width << " x "
        << info.height;
  }
}

// Every start, with widths and heights of a pixel, a few, and all that is left.
void ExpectEveryCrop(std::string_view jpeg, const DecodeOptions& options, int fast_scale) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(jpeg), "p.jpg", options));
  const ImageRegion all = WholeImage(info, fast_scale);
  std::vector<uint8_t> whole(static_cast<size_t>(all.height * all.width * info.channels));
  DecodeScratch scratch;
  STOKER_ASSERT_OK(DecodeImageRegion(BytesOf(jpeg), "p.jpg", info, all, options,
                                     {whole.data(), all.width * info.channels}, scratch));
  for (int64_t x = 0; x < all.width; ++x) {
    for (const int64_t width : {int64_t{1}, int64_t{9}, all.width - x}) {
      const int64_t y = x * 5 % all.height;
      const int64_t height = std::min<int64_t>(all.height - y, 1 + x % 7);
      if (x + width > all.width) continue;
      ExpectCrop(jpeg, info, whole, {y, x, height, width, fast_scale}, options, scratch);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (int64_t y = 0; y < all.height; ++y) {
    for (const int64_t height : {int64_t{1}, int64_t{6}, int64_t{17}, all.height - y}) {
      const int64_t x = y * 3 % all.width;
      const int64_t width = std::min<int64_t>(all.width - x, 1 + y % 40);
      if (y + height > all.height) continue;
      ExpectCrop(jpeg, info, whole, {y, x, height, width, fast_scale}, options, scratch);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_P(JpegKind, ARegionIsACropOfTheWholeAtEveryAlignmentAndScale) {
  for (const auto& [width, height] : kSizes) {
    const std::string jpeg =
        EncodeJpeg(MakePicture(width, height, GetParam().channels), GetParam().settings);
    for (const int fast_scale : {1, 2, 4, 8}) {
      ExpectEveryCrop(jpeg, {}, fast_scale);
      ExpectEveryCrop(jpeg, {.channels = ImageChannels::kGrey}, fast_scale);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(JpegKind, AScaledPictureIsLibjpegs) {
  if (GetParam().channels == 4) GTEST_SKIP() << "libjpeg has no RGB for it";
  const std::string jpeg =
      EncodeJpeg(MakePicture(67, 83, GetParam().channels), GetParam().settings);
  for (const int fast_scale : {2, 4, 8}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(jpeg), "p.jpg"));
    const ImageRegion all = WholeImage(info, fast_scale);
    std::vector<uint8_t> got(static_cast<size_t>(all.height * all.width * 3));
    DecodeScratch scratch;
    STOKER_ASSERT_OK(DecodeImageRegion(BytesOf(jpeg), "p.jpg", info, all, {},
                                       {got.data(), all.width * 3}, scratch));
    EXPECT_EQ(got, PlainDecode(jpeg, JCS_RGB, fast_scale)) << "1/" << fast_scale;
  }
}

const KindCase kKinds[] = {
    {"Grey", {.colours = JpegColours::kGrey}, 1},
    {"GreyWithOddFactors", {.colours = JpegColours::kGrey, .sampling = {{2, 2}}}, 1},
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

}  // namespace
}  // namespace stoker
