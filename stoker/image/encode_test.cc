#include "stoker/image/encode.h"

#include <cmath>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/image/testing.h"

namespace stoker::encode_test {

// A smooth picture, as photographs mostly are: what JPEG is made for.
std::vector<uint8_t> Smooth(int64_t width, int64_t height, int64_t channels) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < channels; ++c)
        pixels.push_back(
            static_cast<uint8_t>(40 + (x * (2 + c) + y * (3 - c)) * 150 / (5 * (width + height))));
    }
  }
  return pixels;
}

PixelView Interleaved(const std::vector<uint8_t>& pixels, int64_t width, int64_t height,
                      int64_t channels) {
  return {.data = pixels.data(),
          .height = height,
          .width = width,
          .channels = channels,
          .row_stride = width * channels};
}

// Peak signal to noise, in dB.
double Psnr(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum == 0 ? 99 : 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / sum);
}

Array Decoded(const std::string& file) {
  return *DecodeImage(BytesOf(file), "file", {.channels = ImageChannels::kAsStored});
}

TEST(EncodeImage, JpegsDecodeToNearlyTheSamePixels) {
  for (const int64_t channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{17, 9}, std::pair{200, 120}}) {
      const std::vector<uint8_t> pixels = Smooth(width, height, channels);
      for (const auto subsampling :
           {ChromaSubsampling::k444, ChromaSubsampling::k422, ChromaSubsampling::k420}) {
        SCOPED_TRACE(testing::Message() << width << " x " << height << " x " << channels);
        STOKER_ASSERT_OK_AND_ASSIGN(const std::string file,
                                    EncodeImage(Interleaved(pixels, width, height, channels),
                                                {.quality = 95, .subsampling = subsampling}));
        const Array again = Decoded(file);
        ASSERT_EQ(again.shape(), (Shape{height, width, channels}));
        EXPECT_GT(Psnr(again.values<uint8_t>(), pixels), 36);
      }
    }
  }
}

TEST(EncodeImage, HigherQualityIsNearerAndLarger) {
  const TestPicture picture = MakePicture(120, 90, 3);
  const PixelView view = Interleaved(picture.samples, 120, 90, 3);
  size_t bytes = 0;
  double psnr = 0;
  for (const int quality : {1, 30, 75, 95, 100}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const std::string file,
        EncodeImage(view, {.quality = quality, .subsampling = ChromaSubsampling::k444}));
    EXPECT_GT(file.size(), bytes) << quality;
    const double now = Psnr(Decoded(file).values<uint8_t>(), picture.samples);
    EXPECT_GT(now, psnr) << quality;
    bytes = file.size();
    psnr = now;
  }
}

TEST(EncodeImage, ChromaIsStoredAsAsked) {
  // Frame header (marker 0xffc0): length, precision, height, width, components, then of the first
  // component its number and its factors.
  const std::vector<uint8_t> pixels = Smooth(32, 32, 3);
  for (const auto& [subsampling, factors] :
       {std::pair{ChromaSubsampling::k444, 0x11}, std::pair{ChromaSubsampling::k422, 0x21},
        std::pair{ChromaSubsampling::k420, 0x22}}) {
    const std::string file =
        *EncodeImage(Interleaved(pixels, 32, 32, 3), {.subsampling = subsampling});
    const size_t frame = file.find("\xff\xc0");
    ASSERT_NE(frame, file.npos) << "it is baseline";
    EXPECT_EQ(static_cast<uint8_t>(file[frame + 11]), factors);
  }
}

TEST(EncodeImage, PlanesGiveTheBytesOfInterleavedPixels) {
  const TestPicture picture = MakePicture(33, 21, 3);
  std::vector<uint8_t> planes(picture.samples.size());
  for (size_t i = 0; i < 33 * 21; ++i) {
    for (size_t c = 0; c < 3; ++c) planes[c * 33 * 21 + i] = picture.samples[i * 3 + c];
  }
  const PixelView planar{.data = planes.data(),
                         .height = 21,
                         .width = 33,
                         .channels = 3,
                         .row_stride = 33,
                         .plane_stride = 33 * 21};
  for (const ImageFormat format : {ImageFormat::kJpeg, ImageFormat::kPng}) {
    EXPECT_EQ(*EncodeImage(planar, {.format = format}),
              *EncodeImage(Interleaved(picture.samples, 33, 21, 3), {.format = format}));
  }
}

TEST(EncodeImage, PngsDecodeToTheSamePixels) {
  const TestPicture picture = MakePicture(31, 8, 1);
  const std::string file =
      *EncodeImage(Interleaved(picture.samples, 31, 8, 1), {.format = ImageFormat::kPng});
  EXPECT_EQ(Psnr(Decoded(file).values<uint8_t>(), picture.samples), 99);
}

TEST(EncodeImage, RefusesWhatCannotBeWritten) {
  const std::vector<uint8_t> pixels(70000);
  EXPECT_THAT(
      EncodeImage(Interleaved(pixels, 2, 2, 4), {}),
      FailsWith(StatusCode::kInvalidArgument, "4 channels and 2 x 2 pixels (width x height)"));
  EXPECT_THAT(EncodeImage(Interleaved(pixels, 0, 2, 3), {}),
              FailsWith(StatusCode::kInvalidArgument, "at least one pixel"));
  EXPECT_THAT(
      EncodeImage(Interleaved(pixels, 70000, 1, 1), {}),
      FailsWith(StatusCode::kInvalidArgument,
                "70000 x 1 pixels (width x height) cannot be written; a side has at most 65500"));
  EXPECT_THAT(EncodeImage(Interleaved(pixels, 2, 2, 3), {.quality = 101}),
              FailsWith(StatusCode::kInvalidArgument, "quality 101"));
  EXPECT_THAT(EncodeImage(Interleaved(pixels, 2, 2, 3), {.format = ImageFormat::kWebp}),
              FailsWith(StatusCode::kInvalidArgument, "is not written"));
}

}  // namespace stoker::encode_test
