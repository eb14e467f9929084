// Changes of colour, blur and affine warps of a picture of 224 x 224, beside memcpy of it.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "stoker/image/affine.h"
#include "stoker/image/blur.h"
#include "stoker/image/color.h"

namespace stoker {
namespace {

constexpr ImageShape kShape{3, 224, 224};

using Change = void (*)(const uint8_t* in, uint8_t* out);

void Run(benchmark::State& state, Change change) {
  std::vector<uint8_t> in(static_cast<size_t>(kShape.num_values())), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  for (auto _ : state) {
    change(in.data(), out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * 2 * kShape.num_values());
}

void Copy(const uint8_t* in, uint8_t* out) {
  std::memcpy(out, in, static_cast<size_t>(kShape.num_values()));
}
void Brightness(const uint8_t* in, uint8_t* out) { AdjustBrightness(in, kShape, 1.3f, out); }
void Contrast(const uint8_t* in, uint8_t* out) { AdjustContrast(in, kShape, 1.3, out); }
void Saturation(const uint8_t* in, uint8_t* out) { AdjustSaturation(in, kShape, 1.3, out); }
void Hue(const uint8_t* in, uint8_t* out) { AdjustHue(in, kShape, 0.1f, out); }
void Gray(const uint8_t* in, uint8_t* out) { ToGray(in, kShape, out); }
void Equalized(const uint8_t* in, uint8_t* out) { Equalize(in, kShape, out); }
void Sharpness(const uint8_t* in, uint8_t* out) { AdjustSharpness(in, kShape, 1.5, out); }
void Blurred(const uint8_t* in, uint8_t* out) {
  static BlurScratch scratch;
  BlurGaussian(in, kShape, 23, 23, 1.5, scratch, out);
}
void Turned(const uint8_t* in, uint8_t* out) {
  const std::byte fill{0};
  WarpNearest(reinterpret_cast<const std::byte*>(in), kShape, 1, RotationMatrix(17), &fill,
              {kShape.height, kShape.width}, reinterpret_cast<std::byte*>(out));
}
void TurnedBilinear(const uint8_t* in, uint8_t* out) {
  WarpBilinear(in, kShape, RotationMatrix(17), 0, {kShape.height, kShape.width}, out);
}

BENCHMARK_CAPTURE(Run, memcpy, Copy);
BENCHMARK_CAPTURE(Run, brightness, Brightness);
BENCHMARK_CAPTURE(Run, contrast, Contrast);
BENCHMARK_CAPTURE(Run, saturation, Saturation);
BENCHMARK_CAPTURE(Run, hue, Hue);
BENCHMARK_CAPTURE(Run, grayscale, Gray);
BENCHMARK_CAPTURE(Run, equalize, Equalized);
BENCHMARK_CAPTURE(Run, sharpness, Sharpness);
BENCHMARK_CAPTURE(Run, gaussian_blur_23, Blurred);
BENCHMARK_CAPTURE(Run, rotate_nearest, Turned);
BENCHMARK_CAPTURE(Run, rotate_bilinear, TurnedBilinear);

}  // namespace
}  // namespace stoker
