#include "stoker/image/jpeg_baseline/jpeg_baseline.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/libjpeg_decoder.h"
#include "stoker/image/testing.h"

namespace stoker::jpeg_baseline_test {

using ::testing::HasSubstr;

constexpr uint8_t kCanary = 0xa5;
constexpr size_t kGuard = 256;

ImageInfo InfoOf(std::string_view jpeg, const DecodeOptions& options = {}) {
  const Result<ImageInfo> info = ProbeJpeg({BytesOf(jpeg), "p.jpg"}, options);
  EXPECT_TRUE(info.ok()) << info.status().ToString();
  return info.ok() ? *info : ImageInfo();
}

// Rows without a gap, and a guard after them.
struct Pixels {
  Pixels(const ImageInfo& info, const ImageRegion& region)
      : stride(region.width * info.channels),
        bytes(static_cast<size_t>(stride * region.height) + kGuard, kCanary) {}
  PixelRows rows() { return {bytes.data(), stride}; }
  int64_t stride;
  std::vector<uint8_t> bytes;
};

Pixels LibjpegsPixels(std::string_view jpeg, const ImageInfo& info, int fast_scale = 1) {
  const ImageRegion all = WholeImage(info, fast_scale);
  Pixels pixels(info, all);
  DecodeScratch scratch;
  const Status status =
      DecodeWithLibjpeg({BytesOf(jpeg), "p.jpg"}, info, all, {.jpeg_warnings_are_errors = false},
                        pixels.rows(), scratch);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return pixels;
}

Result<bool> Decode(std::string_view jpeg, const ImageInfo& info, const ImageRegion& region,
                    Pixels& pixels, DecodeScratch& scratch) {
  scratch.Reset();
  return DecodeBaselineJpeg({BytesOf(jpeg), "p.jpg"}, info, region, pixels.rows(), scratch);
}

void ExpectCrop(std::string_view jpeg, const ImageInfo& info, const Pixels& whole,
                const ImageRegion& region, DecodeScratch& scratch) {
  SCOPED_TRACE(testing::Message() << region.width << " x " << region.height << " at x " << region.x
                                  << ", y " << region.y << " of " << info.width << " x "
                                  << info.height << " at 1/" << region.fast_scale);
  Pixels got(info, region), want(info, region);
  for (int64_t y = 0; y < region.height; ++y) {
    std::memcpy(want.rows().row(y),
                whole.bytes.data() + (region.y + y) * whole.stride + region.x * info.channels,
                static_cast<size_t>(got.stride));
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const bool ours, Decode(jpeg, info, region, got, scratch));
  ASSERT_TRUE(ours);
  for (int64_t y = 0; y < region.height; ++y) {
    ASSERT_EQ(std::memcmp(got.rows().row(y), want.rows().row(y), static_cast<size_t>(got.stride)),
              0)
        << "row " << y;
  }
  ASSERT_EQ(got.bytes, want.bytes) << "something was written after the pixels";
}

struct KindCase {
  const char* name;
  JpegSettings settings;
  int channels = 3;
};
void PrintTo(const KindCase& c, std::ostream* out) { *out << c.name; }
class BaselineKind : public testing::TestWithParam<KindCase> {};

constexpr std::pair<int, int> kSizes[] = {{1, 1},   {2, 3},   {5, 7},   {8, 8},
                                          {17, 16}, {33, 31}, {67, 83}, {131, 64}};

ImageRegion SomeRegion(const ImageRegion& all, Rng& rng) {
  ImageRegion region{.y = static_cast<int64_t>(rng.Below(all.height)),
                     .x = static_cast<int64_t>(rng.Below(all.width)),
                     .fast_scale = all.fast_scale};
  region.height = 1 + static_cast<int64_t>(rng.Below(all.height - region.y));
  region.width = 1 + static_cast<int64_t>(rng.Below(all.width - region.x));
  return region;
}

TEST_P(BaselineKind, EveryRegionHasTheBytesOfLibjpegsWholeDecodeAtEveryScale) {
  Rng rng(/*seed=*/3, 0, 0, 0);
  DecodeScratch scratch;
  for (const auto& [width, height] : kSizes) {
    const std::string jpeg =
        EncodeJpeg(MakePicture(width, height, GetParam().channels), GetParam().settings);
    for (const ImageChannels channels : {ImageChannels::kRgb, ImageChannels::kGrey}) {
      const ImageInfo info = InfoOf(jpeg, {.channels = channels});
      for (const int fast_scale : {1, 2, 4, 8}) {
        const ImageRegion all = WholeImage(info, fast_scale);
        const Pixels whole = LibjpegsPixels(jpeg, info, fast_scale);
        ExpectCrop(jpeg, info, whole, all, scratch);
        for (int i = 0; i < 150 / fast_scale && !HasFatalFailure(); ++i) {
          ExpectCrop(jpeg, info, whole, SomeRegion(all, rng), scratch);
        }
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(BaselineKind, EveryQualityHasTheBytesOfLibjpegAtEveryScale) {
  DecodeScratch scratch;
  for (const int quality : {1, 5, 25, 50, 75, 85, 92, 95, 98, 100}) {
    JpegSettings settings = GetParam().settings;
    settings.quality = quality;
    const std::string jpeg = EncodeJpeg(
        MakePicture(150, 110, GetParam().channels, static_cast<uint32_t>(quality)), settings);
    SCOPED_TRACE(testing::Message() << "quality " << quality);
    const ImageInfo info = InfoOf(jpeg);
    for (const int fast_scale : {1, 2, 4, 8}) {
      ExpectCrop(jpeg, info, LibjpegsPixels(jpeg, info, fast_scale), WholeImage(info, fast_scale),
                 scratch);
    }
    if (HasFatalFailure()) return;
  }
}

// Cut short, or with other bytes: an error or libjpeg's own pixels, never anything else. Every
// fault of memory would show in the sanitized run.
TEST_P(BaselineKind, NoProperPrefixIsDecoded) {
  const std::string jpeg =
      EncodeJpeg(MakePicture(37, 41, GetParam().channels), GetParam().settings);
  const ImageInfo info = InfoOf(jpeg);
  DecodeScratch scratch;
  for (const int fast_scale : {1, 2, 8}) {
    const ImageRegion all = WholeImage(info, fast_scale);
    Pixels pixels(info, all);
    for (size_t n = 0; n < jpeg.size(); ++n) {
      const Result<bool> done = Decode(jpeg.substr(0, n), info, all, pixels, scratch);
      // The values that are made up for what is missing may be those that libjpeg must judge.
      if (done.ok()) {
        ASSERT_FALSE(*done) << n << " of " << jpeg.size() << " bytes, at 1/" << fast_scale;
      } else {
        ASSERT_THAT(done.status().message(), HasSubstr("p.jpg: "));
      }
    }
  }
}

const KindCase kKinds[] = {
    {"Grey", {.colours = JpegColours::kGrey}, 1},
    {"GreyWithOddFactors", {.colours = JpegColours::kGrey, .sampling = {{2, 2}}}, 1},
    {"GreyRestarts", {.colours = JpegColours::kGrey, .restart_interval = 5}, 1},
    {"Ycc444", {.sampling = Sampling(1, 1)}},
    {"Ycc422", {.sampling = Sampling(2, 1)}},
    {"Ycc420", {.sampling = Sampling(2, 2)}},
    {"Ycc440", {.sampling = Sampling(1, 2)}},
    {"Ycc411", {.sampling = Sampling(4, 1)}},
    {"Ycc410", {.sampling = Sampling(4, 2)}},
    {"Ycc440OfLargerFactors", {.sampling = {{1, 4}, {1, 2}, {1, 2}}}},
    {"Ycc422OfLargerFactors", {.sampling = {{2, 2}, {1, 2}, {1, 2}}}},
    {"Ycc444OfLargerFactors", {.sampling = {{2, 1}, {2, 1}, {2, 1}}}},
    {"Ycc420RestartsEachMcu", {.sampling = Sampling(2, 2), .restart_interval = 1}},
    {"Ycc420Restarts", {.sampling = Sampling(2, 2), .restart_interval = 3}},
    {"Ycc444Restarts", {.sampling = Sampling(1, 1), .restart_interval = 7}},
    {"Ycc422RestartsAfterRows", {.sampling = Sampling(2, 1), .restart_interval = 9}},
    {"Ycc420Optimized", {.sampling = Sampling(2, 2), .optimize = true}},
    {"Ycc444Optimized", {.sampling = Sampling(1, 1), .optimize = true}},
};
INSTANTIATE_TEST_SUITE_P(DecodeBaselineJpeg, BaselineKind, testing::ValuesIn(kKinds),
                         [](const auto& c) { return c.param.name; });

// Other people's pictures, where they are installed, and the photographs that `./dev photos` cuts
// tiles from.
std::vector<std::string> OtherPeoplesJpegs() {
  std::vector<std::string> jpegs;
  for (const char* folder : {"/usr/libexec/installed-tests/gdk-pixbuf",
                             "/usr/share/libjxl-testdata", "/usr/share/backgrounds"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file() || entry.file_size() > 2'000'000) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::string file{std::istreambuf_iterator<char>(in), {}};
      if (file.starts_with("\xff\xd8\xff")) jpegs.push_back(std::move(file));
    }
  }
  return jpegs;
}

TEST(DecodeBaselineJpeg, GivesTheBytesOfLibjpegForOtherPeoplesPicturesAtEveryScale) {
  const std::vector<std::string> jpegs = OtherPeoplesJpegs();
  if (jpegs.empty()) GTEST_SKIP() << "none is installed (gdk-pixbuf-tests has some)";
  DecodeScratch scratch;
  int taken = 0;
  for (const std::string& jpeg : jpegs) {
    const EncodedImage image{BytesOf(jpeg), "p.jpg"};
    const Result<ImageInfo> info = ProbeJpeg(image, {.apply_orientation = false});
    if (!info.ok()) continue;
    for (const int fast_scale : {1, 2, 4, 8}) {
      const ImageRegion all = WholeImage(*info, fast_scale);
      Pixels got(*info, all), want(*info, all);
      const Result<bool> ours = Decode(jpeg, *info, all, got, scratch);
      scratch.Reset();
      const Status theirs = DecodeWithLibjpeg(image, *info, all, {}, want.rows(), scratch);
      if (!ours.ok() || !*ours) continue;
      STOKER_ASSERT_OK(theirs);
      ASSERT_TRUE(got.bytes == want.bytes)
          << info->width << " x " << info->height << " at 1/" << fast_scale;
      ++taken;
    }
  }
  EXPECT_GT(taken, 4);
}

}  // namespace stoker::jpeg_baseline_test
