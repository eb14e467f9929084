// Pictures much larger than what is wanted of them: decoded in full or at a scale, by ours and by
// libjpeg-turbo, and all the way to a place of 224 x 224 in a batch.
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>

#include "stoker/image/jpeg.h"
#include "stoker/image/jpeg_baseline/jpeg_baseline.h"
#include "stoker/image/libjpeg_decoder.h"
#include "stoker/image/store.h"
#include "stoker/image/testing.h"

namespace stoker {
namespace {

constexpr int kWidth = 2000;
constexpr int kHeight = 1500;
constexpr int64_t kSide = 224;
constexpr ShiftScale kConstants[] = {
    {123.675f, 0.01712475f}, {116.28f, 0.017507f}, {103.53f, 0.0174291f}};

enum Kind { kQ92, kQ98, kNumKinds };
constexpr const char* kNames[kNumKinds] = {"q92 4:2:0", "q98 4:4:4"};

const std::string& Picture(int64_t kind) {
  static std::array<std::string, kNumKinds> pictures;
  std::string& jpeg = pictures[static_cast<size_t>(kind)];
  if (jpeg.empty()) {
    const bool full = kind == kQ98;
    jpeg =
        EncodeJpeg(MakePicture(kWidth, kHeight, 3),
                   {.quality = full ? 98 : 92, .sampling = full ? Sampling(1, 1) : Sampling(2, 2)});
  }
  return jpeg;
}

Status DecodeWithOurs(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                      const PixelRows& out, DecodeScratch& scratch) {
  STOKER_ASSIGN_OR_RETURN(const bool ours, DecodeBaselineJpeg(image, info, region, out, scratch));
  return ours ? OkStatus() : Unimplemented("not taken");
}
Status DecodeWithTheirs(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                        const PixelRows& out, DecodeScratch& scratch) {
  return DecodeWithLibjpeg(image, info, region, {}, out, scratch);
}
using Decode = Status(const EncodedImage&, const ImageInfo&, const ImageRegion&, const PixelRows&,
                      DecodeScratch&);

// Arguments: the kind of picture; the scale. With kToSlot, resized, normalised and stored too.
template <Decode* kDecode, bool kToSlot>
void BM_FastScale(benchmark::State& state) {
  const std::string& jpeg = Picture(state.range(0));
  const EncodedImage image{BytesOf(jpeg), "picture"};
  const Result<ImageInfo> info = ProbeJpeg(image, {});
  const ImageRegion all = WholeImage(*info, static_cast<int>(state.range(1)));
  const int64_t stride = 3 * all.width;
  std::vector<uint8_t> pixels(static_cast<size_t>(stride * all.height)), want = pixels;
  std::vector<float> slot_values(3 * kSide * kSide);
  const PixelSlot slot =
      PixelSlot::Of(DType::kFloat32, reinterpret_cast<std::byte*>(slot_values.data()), kSide, kSide,
                    3, /*channels_last=*/false);
  const PixelView view{pixels.data(), all.height, all.width, 3, stride, 0};
  DecodeScratch scratch;
  ResampleScratch resampler;
  for (auto _ : state) {
    scratch.Reset();
    const Status status = kDecode(image, *info, all, {pixels.data(), stride}, scratch);
    if (!status.ok()) return state.SkipWithError(status.message().c_str());
    if (kToSlot) {
      ResampleToSlot(view, ResampleBox::Whole(view), ResampleFilter::kBilinear,
                     {.flip = false, .channels = kConstants}, slot, resampler);
    }
    benchmark::DoNotOptimize(pixels.data());
    benchmark::DoNotOptimize(slot_values.data());
  }
  scratch.Reset();
  (void)DecodeWithTheirs(image, *info, all, {want.data(), stride}, scratch);
  if (pixels != want) state.SkipWithError("wrong pixels");
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(kNames[state.range(0)]) + ", " + std::to_string(jpeg.size() / 1000) +
                 " KB");
}

#define STOKER_SCALES ->ArgsProduct({{kQ92, kQ98}, {1, 2, 4, 8}})->Unit(benchmark::kMillisecond)
BENCHMARK(BM_FastScale<DecodeWithOurs, false>) STOKER_SCALES;
BENCHMARK(BM_FastScale<DecodeWithTheirs, false>) STOKER_SCALES;
BENCHMARK(BM_FastScale<DecodeWithOurs, true>) STOKER_SCALES;
BENCHMARK(BM_FastScale<DecodeWithTheirs, true>) STOKER_SCALES;

}  // namespace
}  // namespace stoker
