// Pictures per second of every format, whole and by regions as random-resized crops take them,
// through the interface that pipelines use. For JPEG beside libjpeg-turbo's plain whole decode:
// what a loader does that crops afterwards. (jpeg_baseline/jpeg_baseline_bench.cc takes JPEG
// apart.)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/image/decode.h"
#include "stoker/image/random_crop_bench.h"
#include "stoker/image/testing.h"

namespace stoker {
namespace {

constexpr int kWidth = 500;
constexpr int kHeight = 375;

enum Kind { kJpegQ92, kJpegQ98, kJpegProgressive, kPng, kWebp, kWebpLossless, kPnm, kNumKinds };
constexpr const char* kNames[kNumKinds] = {"JPEG q92 4:2:0",
                                           "JPEG q98 4:4:4",
                                           "JPEG q92 4:2:0 progressive",
                                           "PNG",
                                           "WebP q90",
                                           "WebP lossless",
                                           "PNM"};

std::string Encode(const TestPicture& picture, Kind kind) {
  switch (kind) {
    case kJpegQ98: return EncodeJpeg(picture, {.quality = 98});
    case kJpegProgressive:
      return EncodeJpeg(picture, {.quality = 92, .sampling = Sampling(2, 2), .progressive = true});
    case kPng: return EncodePng(kWidth, kHeight, {}, picture.samples);
    case kWebp: return EncodeWebp(picture, /*lossless=*/false, 90);
    case kWebpLossless: return EncodeWebp(picture, /*lossless=*/true);
    case kPnm:
      return "P6 500 375 255\n" + std::string(picture.samples.begin(), picture.samples.end());
    default: return EncodeJpeg(picture, {.quality = 92, .sampling = Sampling(2, 2)});
  }
}

// With a grain of four levels either way, as sensors leave it.
const std::vector<std::string>& Files(Kind kind) {
  static std::array<std::vector<std::string>, kNumKinds> files;
  for (uint32_t seed = 1; files[kind].size() < 4; ++seed) {
    TestPicture picture = MakePicture(kWidth, kHeight, 3, seed);
    for (size_t i = 0; i < picture.samples.size(); ++i) {
      const int grain = static_cast<int>(HashOf(static_cast<uint32_t>(i), seed, 0) % 9) - 4;
      picture.samples[i] = static_cast<uint8_t>(std::clamp(picture.samples[i] + grain, 0, 255));
    }
    files[kind].push_back(Encode(picture, kind));
  }
  return files[kind];
}

void Label(benchmark::State& state, Kind kind) {
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(kNames[kind]) + ", " + std::to_string(Files(kind)[0].size() / 1000) +
                 " KB");
}

// Arguments: the kind of picture; whether it is decoded whole; the scale.
void BM_Decode(benchmark::State& state) {
  const auto kind = static_cast<Kind>(state.range(0));
  const int fast_scale = static_cast<int>(state.range(2));
  const std::vector<std::string>& files = Files(kind);
  Rng rng(/*seed=*/1, 0, 0, 0);
  std::vector<ImageRegion> regions;
  for (int i = 0; i < 256; ++i) {
    ImageRegion region = state.range(1) != 0 ? ImageRegion{0, 0, kHeight, kWidth}
                                             : DrawRandomCrop(rng, kWidth, kHeight);
    for (int64_t* value : {&region.y, &region.x, &region.height, &region.width})
      *value /= fast_scale;
    region.fast_scale = fast_scale;
    regions.push_back(region);
  }
  std::vector<uint8_t> pixels(3 * kWidth * kHeight);
  DecodeScratch scratch;
  size_t i = 0;
  for (auto _ : state) {
    const auto bytes = BytesOf(files[i % files.size()]);
    const ImageRegion& region = regions[i++ % regions.size()];
    const auto info = ProbeImage(bytes, "sample");
    const Status status = !info.ok()
                              ? info.status()
                              : DecodeImageRegion(bytes, "sample", *info, region, {},
                                                  {pixels.data(), 3 * region.width}, scratch);
    if (!status.ok()) return state.SkipWithError(status.ToString().c_str());
    benchmark::DoNotOptimize(pixels.data());
  }
  Label(state, kind);
}

// The twin: libjpeg's own way, from the header to the last row.
void BM_PlainLibjpeg(benchmark::State& state) {
  const auto kind = static_cast<Kind>(state.range(0));
  const std::vector<std::string>& files = Files(kind);
  std::vector<uint8_t> pixels(3 * kWidth * kHeight);
  size_t i = 0;
  for (auto _ : state) {
    const std::string& jpeg = files[i++ % files.size()];
    jpeg_decompress_struct cinfo = {};
    jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&cinfo, TRUE);
    jpeg_start_decompress(&cinfo);
    while (cinfo.output_scanline < cinfo.output_height) {
      JSAMPROW row = pixels.data() + size_t{3} * kWidth * cinfo.output_scanline;
      jpeg_read_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_decompress(&cinfo);
    jpeg_destroy_decompress(&cinfo);
    benchmark::DoNotOptimize(pixels.data());
  }
  const auto ours = DecodeImage(BytesOf(files[(i - 1) % files.size()]), "sample");
  if (!ours.ok() || std::memcmp(ours->data(), pixels.data(), pixels.size()) != 0)
    state.SkipWithError("other pixels than ours");
  Label(state, kind);
}

BENCHMARK(BM_PlainLibjpeg)->Arg(kJpegQ92)->Arg(kJpegQ98)->Arg(kJpegProgressive);
BENCHMARK(BM_Decode)
    ->ArgsProduct({benchmark::CreateDenseRange(0, kNumKinds - 1, 1), {0, 1}, {1}})
    ->ArgsProduct({{kJpegQ92, kJpegQ98}, {0, 1}, {2, 4}});

}  // namespace
}  // namespace stoker
