// Pictures per second, whole and by regions as random-resized crops take them, beside libjpeg-turbo
// on the same pictures; and the parts that the time goes to.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "stoker/base/instruction_set.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/jpeg_baseline/color_rows.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"
#include "stoker/image/jpeg_baseline/inverse_dct.h"
#include "stoker/image/jpeg_baseline/jpeg_baseline.h"
#include "stoker/image/libjpeg_decoder.h"
#include "stoker/image/random_crop_bench.h"
#include "stoker/image/testing.h"

namespace stoker {
namespace {

using jpeg_baseline::CoefficientBatch;
using jpeg_baseline::EntropyDecoder;
using jpeg_baseline::Frame;

constexpr int kWidth = 500;
constexpr int kHeight = 375;

// What benchmarks take as their argument: about as many bytes as photographs of that quality.
enum Kind { kQ92, kQ98, kQ92Optimized };

struct Sample {
  std::string jpeg;
  ImageInfo info;
};

const std::vector<Sample>& Samples(int64_t kind) {
  static std::array<std::vector<Sample>, 3> samples;
  std::vector<Sample>& made = samples[static_cast<size_t>(kind)];
  for (uint32_t seed = 1; made.size() < 8; ++seed) {
    TestPicture picture = MakePicture(kWidth, kHeight, 3, seed);
    // Half of a photograph is less sharp than the other.
    for (size_t i = 0; i < picture.samples.size(); ++i) {
      const int grain = i / 3 % kWidth < 250 ? 27 : 9;
      const auto noise = static_cast<int>(HashOf(static_cast<uint32_t>(i), seed, 0) % 32768);
      const int value = picture.samples[i] + noise % grain - grain / 2;
      picture.samples[i] = static_cast<uint8_t>(std::clamp(value, 0, 255));
    }
    const bool full = kind == kQ98;
    const std::string jpeg =
        EncodeJpeg(picture, {.quality = full ? 98 : 92,
                             .sampling = full ? Sampling(1, 1) : Sampling(2, 2),
                             .optimize = kind == kQ92Optimized});
    const Result<ImageInfo> info = ProbeJpeg({BytesOf(jpeg), "sample"}, {});
    made.push_back({jpeg, *info});
  }
  return made;
}

size_t MeanBytes(const std::vector<Sample>& samples) {
  size_t bytes = 0;
  for (const Sample& sample : samples) bytes += sample.jpeg.size();
  return bytes / samples.size();
}

void Report(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::to_string(MeanBytes(Samples(state.range(0))) / 1000) + " KB a picture");
}

Status DecodeWithOurs(const Sample& sample, const ImageRegion& region, const PixelRows& out,
                      DecodeScratch& scratch) {
  STOKER_ASSIGN_OR_RETURN(const bool ours, DecodeBaselineJpeg({BytesOf(sample.jpeg), "sample"},
                                                              sample.info, region, out, scratch));
  return ours ? OkStatus() : Unimplemented("sample: not taken");
}
Status DecodeWithTheirs(const Sample& sample, const ImageRegion& region, const PixelRows& out,
                        DecodeScratch& scratch) {
  return DecodeWithLibjpeg({BytesOf(sample.jpeg), "sample"}, sample.info, region, {}, out, scratch);
}

using Decode = Status(const Sample&, const ImageRegion&, const PixelRows&, DecodeScratch&);

template <Decode* kDecode>
void BM_Region(benchmark::State& state) {
  const std::vector<Sample>& samples = Samples(state.range(0));
  const bool whole = state.range(1) != 0;
  Rng rng(/*seed=*/1, 0, 0, 0);
  std::vector<ImageRegion> regions;
  for (int i = 0; i < 256; ++i) {
    regions.push_back(whole ? ImageRegion{0, 0, kHeight, kWidth}
                            : DrawRandomCrop(rng, kWidth, kHeight));
  }
  std::vector<uint8_t> pixels(3 * kWidth * kHeight), want = pixels;
  DecodeScratch scratch;
  size_t i = 0;
  for (auto _ : state) {
    scratch.Reset();
    const ImageRegion& region = regions[i % regions.size()];
    const Status status =
        kDecode(samples[i % samples.size()], region, {pixels.data(), 3 * region.width}, scratch);
    if (!status.ok()) return state.SkipWithError(status.message().c_str());
    benchmark::DoNotOptimize(pixels.data());
    ++i;
  }
  const ImageRegion& last = regions[(i - 1) % regions.size()];
  scratch.Reset();
  (void)DecodeWithTheirs(samples[(i - 1) % samples.size()], last, {want.data(), 3 * last.width},
                         scratch);
  if (std::memcmp(pixels.data(), want.data(), static_cast<size_t>(3 * last.width * last.height)) !=
      0) {
    state.SkipWithError("wrong pixels");
  }
  Report(state);
}

// Huffman decoding alone of all blocks; with values kept or not.
template <bool kKeep>
void BM_Entropy(benchmark::State& state) {
  const std::vector<Sample>& samples = Samples(state.range(0));
  const auto decoder = std::make_unique<EntropyDecoder>();
  const auto batch = std::make_unique<CoefficientBatch>();
  const auto frame = std::make_unique<Frame>();
  size_t i = 0;
  for (auto _ : state) {
    const std::string& jpeg = samples[i++ % samples.size()].jpeg;
    bool good = jpeg_baseline::ParseFrame(BytesOf(jpeg), "sample", *frame).ok() &&
                decoder->Start(*frame, BytesOf(jpeg), "sample").ok();
    const int mcus = frame->mcus_across() * frame->mcus_down();
    if (kKeep) {
      for (int mcu = 0; mcu < mcus && good; mcu += 4) {
        good = decoder->Decode(std::min(4, mcus - mcu), *batch).ok();
      }
    } else {
      good = decoder->Skip(mcus).ok();
    }
    if (!good || !decoder->Finish().ok()) return state.SkipWithError("not decoded");
    benchmark::DoNotOptimize(batch->values.data());
  }
  Report(state);
}

// The same by libjpeg-turbo: all coefficients of a picture.
void BM_EntropyLibjpeg(benchmark::State& state) {
  const std::vector<Sample>& samples = Samples(state.range(0));
  size_t i = 0;
  for (auto _ : state) {
    const std::string& jpeg = samples[i++ % samples.size()].jpeg;
    jpeg_decompress_struct cinfo = {};
    jpeg_error_mgr errors;
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&cinfo, TRUE);
    benchmark::DoNotOptimize(jpeg_read_coefficients(&cinfo));
    jpeg_destroy_decompress(&cinfo);
  }
  Report(state);
}

// The inverse DCT of as many groups as a picture of 500 x 375 in 4:2:0 has, and their pixels.
void BM_InverseDct(benchmark::State& state) {
  constexpr int kGroups = 32 * 24 * 6 / 4;
  const auto batch = std::make_unique<CoefficientBatch>();
  alignas(64) std::array<int16_t, 64> divisors;
  divisors.fill(3);
  std::vector<uint8_t> out(64 * 64);
  for (auto _ : state) {
    for (int i = 0; i < kGroups; ++i) {
      jpeg_baseline::InverseDctGroup(batch->values.data(), divisors.data(),
                                     static_cast<int>(state.range(0)), out.data(), 64);
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(InstructionSet()));
}

void BM_Colours(benchmark::State& state) {
  std::vector<uint8_t> samples(2048, 100), rgb(3 * 512);
  std::vector<int16_t> sums(1024, 400);
  for (auto _ : state) {
    for (int y = 0; y < kHeight; ++y) {
      if (state.range(0) == 2) {
        jpeg_baseline::SumRows(samples.data(), samples.data(), 250, sums.data() + 32);
        jpeg_baseline::SumRows(samples.data(), samples.data(), 250, sums.data() + 32);
        jpeg_baseline::ConvertDoubledRow(samples.data(), sums.data() + 32, sums.data() + 32, 0,
                                         kWidth, true, rgb.data());
      } else {
        jpeg_baseline::ConvertRow(samples.data(), samples.data(), samples.data(), kWidth,
                                  rgb.data());
      }
    }
    benchmark::DoNotOptimize(rgb.data());
  }
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(std::string(InstructionSet()));
}

// Arguments: the kind of picture; whether it is decoded whole.
#define STOKER_PICTURES ->ArgsProduct({{kQ92, kQ98, kQ92Optimized}, {0, 1}})
BENCHMARK(BM_Region<DecodeWithOurs>) STOKER_PICTURES;
BENCHMARK(BM_Region<DecodeWithTheirs>) STOKER_PICTURES;
BENCHMARK(BM_Entropy<true>)->Arg(kQ92)->Arg(kQ98)->Arg(kQ92Optimized);
BENCHMARK(BM_Entropy<false>)->Arg(kQ92)->Arg(kQ98)->Arg(kQ92Optimized);
BENCHMARK(BM_EntropyLibjpeg)->Arg(kQ92)->Arg(kQ98)->Arg(kQ92Optimized);
BENCHMARK(BM_InverseDct)->Arg(9)->Arg(63);
BENCHMARK(BM_Colours)->Arg(1)->Arg(2);

}  // namespace
}  // namespace stoker
