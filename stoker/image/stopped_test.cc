// What works on large pictures while its thread is asked to stop. How often it looks is counted:
// once for about a million pixels, which is some milliseconds, whatever the machine.
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"
#include "stoker/image/decode.h"
#include "stoker/image/encode.h"
#include "stoker/image/resample.h"

namespace stoker::stopped_test {

constexpr int64_t kMegapixel = int64_t{1} << 20;

class CountingRows final : public RowReceiver {
 public:
  void Take(int64_t, const uint8_t*) override { ++rows; }
  int64_t rows = 0;
};

using Work = std::function<bool()>;  // whether it came to its end

// One thing done to a grey picture.
struct StoppedCase {
  const char* name;
  int64_t height, width;
  std::function<Work(const PixelView&)> prepare;
};

void PrintTo(const StoppedCase& each, std::ostream* out) { *out << each.name; }

PixelView ViewOf(const std::vector<uint8_t>& pixels, int64_t height, int64_t width) {
  return {
      .data = pixels.data(), .height = height, .width = width, .channels = 1, .row_stride = width};
}

std::vector<uint8_t> Noise(int64_t count) {
  std::vector<uint8_t> pixels(static_cast<size_t>(count));
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return pixels;
}

// Resizes to as many pixels, in another shape.
bool Resize(const PixelView& source, ResampleFilter filter, ResampleSize size) {
  ResampleScratch scratch;
  CountingRows rows;
  const bool whole = Resample(source, ResampleBox::Whole(source), filter, size, scratch, rows);
  EXPECT_TRUE(!whole || rows.rows == size.height) << "only " << rows.rows;
  return whole;
}

auto Resizing(ResampleFilter filter, ResampleSize size) {
  return
      [=](const PixelView& source) -> Work { return [=] { return Resize(source, filter, size); }; };
}

bool ResizeFloats(const PixelView& source) {
  const std::vector<float> in(static_cast<size_t>(source.height * source.width), 1.0f);
  std::vector<float> out(in.size() / 4);
  ResampleScratch scratch;
  return ResampleFloats(in.data(), source.height, source.width, source.width,
                        ResampleBox::Whole(source), ResampleFilter::kBilinear,
                        {source.height / 2, source.width / 2}, scratch, out.data());
}

// Whether it was done; any other error than kCancelled fails.
bool IsWhole(const Status& status) {
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kCancelled) << status.message();
  return status.ok();
}

bool Encode(const PixelView& source, ImageFormat format) {
  return IsWhole(EncodeImage(source, {.format = format}).status());
}

auto Encoding(ImageFormat format) {
  return [=](const PixelView& source) -> Work { return [=] { return Encode(source, format); }; };
}

std::string FileOf(const PixelView& picture, ImageFormat format) {
  if (format != ImageFormat::kPnm) return *EncodeImage(picture, {.format = format});
  std::string file = fmt::format("P5 {} {} 255\n", picture.width, picture.height);
  return file.append(reinterpret_cast<const char*>(picture.data),
                     static_cast<size_t>(picture.height * picture.width));
}

// The file is made before the thread is asked to stop.
auto Decoding(ImageFormat format) {
  return [=](const PixelView& source) -> Work {
    return [file = FileOf(source, format)] {
      return IsWhole(DecodeImage(std::as_bytes(std::span(file)), "picture").status());
    };
  };
}

class StoppedTest : public testing::TestWithParam<StoppedCase> {};

TEST_P(StoppedTest, ALargePictureIsLeftSoonAfterItsThreadIsAskedToStop) {
  const StoppedCase& param = GetParam();
  const std::vector<uint8_t> pixels = Noise(param.height * param.width);
  const Work work = param.prepare(ViewOf(pixels, param.height, param.width));
  int looks = 0;
  {
    const StopScope scope([&looks] { return ++looks < 0; });
    EXPECT_TRUE(work());
  }
  EXPECT_GE(looks, param.height * param.width / kMegapixel / 2) << "it looks too rarely";
  const int last = looks;
  for (const int stopped_at : {1, (last + 1) / 2, last}) {
    looks = 0;
    const StopScope scope([&looks, stopped_at] { return ++looks >= stopped_at; });
    EXPECT_FALSE(work());
    EXPECT_EQ(looks, stopped_at) << "it went on";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Work, StoppedTest,
    testing::Values(
        StoppedCase{"TableOfALongRow", 1, 4 * kMegapixel,
                    Resizing(ResampleFilter::kBicubic, {1, 2 * kMegapixel})},
        StoppedCase{"TableOfALongColumn", 4 * kMegapixel, 1,
                    Resizing(ResampleFilter::kBicubic, {2 * kMegapixel, 1})},
        StoppedCase{"ColumnsFirst", 2048, 2048, Resizing(ResampleFilter::kBilinear, {1024, 1500})},
        StoppedCase{"RowsFirst", 2048, 2048, Resizing(ResampleFilter::kBicubic, {2100, 2100})},
        StoppedCase{"ManySourceRows", 4 * kMegapixel, 1,
                    Resizing(ResampleFilter::kBilinear, {64, 8})},
        StoppedCase{
            "Floats", 2048, 2048,
            [](const PixelView& source) -> Work { return [=] { return ResizeFloats(source); }; }},
        StoppedCase{"EncodedJpeg", 2048, 2048, Encoding(ImageFormat::kJpeg)},
        StoppedCase{"EncodedPng", 2048, 2048, Encoding(ImageFormat::kPng)},
        StoppedCase{"DecodedJpeg", 2048, 2048, Decoding(ImageFormat::kJpeg)},
        StoppedCase{"DecodedPng", 2048, 2048, Decoding(ImageFormat::kPng)},
        StoppedCase{"DecodedPnm", 2048, 2048, Decoding(ImageFormat::kPnm)}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Stopped, WorkOnSmallPicturesNeverLooks) {
  const std::vector<uint8_t> pixels = Noise(224 * 224);
  int looks = 0;
  const StopScope scope([&looks] { return ++looks > 0; });
  EXPECT_TRUE(Resize(ViewOf(pixels, 224, 224), ResampleFilter::kBicubic, {224, 224}));
  EXPECT_TRUE(Encode(ViewOf(pixels, 224, 224), ImageFormat::kJpeg));
  EXPECT_EQ(looks, 0);
}

}  // namespace stoker::stopped_test
