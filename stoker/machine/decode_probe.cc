#include "stoker/machine/decode_probe.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/image/decode.h"
#include "stoker/image/encode.h"
#include "stoker/machine/timed_work.h"

namespace stoker {
namespace {

constexpr int64_t kHeight = 375, kWidth = 500;

struct DecodingThread {
  DecodeScratch scratch;
  std::vector<uint8_t> pixels = std::vector<uint8_t>(kHeight * kWidth * 3);
};

}  // namespace

Result<std::string> MakePhotograph() {
  Rng random(/*seed=*/1, /*epoch=*/0, /*index=*/0, /*stage=*/0);
  std::vector<uint8_t> pixels;
  pixels.reserve(kHeight * kWidth * 3);
  for (int64_t y = 0; y < kHeight; ++y) {
    for (int64_t x = 0; x < kWidth; ++x) {
      // A chequered floor below a sky, each with some texture.
      const bool sky = y < kHeight / 3;
      const int64_t square = ((x + 2 * y) / 40 + y / 25) % 2;
      for (int64_t channel = 0; channel < 3; ++channel) {
        const int64_t base = sky ? 90 + y / 2 + channel * 40 : 60 + square * 110 - channel * 15;
        const int64_t noise = static_cast<int64_t>(random.Below(sky ? 9 : 31));
        pixels.push_back(static_cast<uint8_t>(std::clamp<int64_t>(base + noise, 0, 255)));
      }
    }
  }
  return EncodeImage({.data = pixels.data(),
                      .height = kHeight,
                      .width = kWidth,
                      .channels = 3,
                      .row_stride = kWidth * 3},
                     {.format = ImageFormat::kJpeg, .quality = 90});
}

Result<DecodeRoofs> MeasureDecoding(double seconds, int threads) {
  STOKER_ASSIGN_OR_RETURN(const std::string file, MakePhotograph());
  const auto bytes = std::as_bytes(std::span(file));
  constexpr std::string_view kName = "the picture of the measurement";
  STOKER_ASSIGN_OR_RETURN(const ImageInfo info, ProbeImage(bytes, kName));
  const auto make = [&](int) -> Result<WorkPiece> {
    const auto thread = std::make_shared<DecodingThread>();
    return WorkPiece([&, thread]() -> Result<int64_t> {
      thread->scratch.Reset();
      STOKER_RETURN_IF_ERROR(DecodeImageRegion(bytes, kName, info, WholeImage(info), {},
                                               {thread->pixels.data(), kWidth * 3},
                                               thread->scratch));
      return 1;
    });
  };
  STOKER_ASSIGN_OR_RETURN(const WorkRate rate, MeasureRate(seconds, threads, make));
  return DecodeRoofs{.pictures_per_s = rate.per_second};
}

}  // namespace stoker
