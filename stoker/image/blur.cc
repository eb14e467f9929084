#include "stoker/image/blur.h"

#include <algorithm>
#include <cstring>

#include "stoker/base/portable_math.h"

namespace stoker {
namespace {

std::vector<float> GaussianWeights(int64_t n, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = (static_cast<double>(i) - static_cast<double>(n - 1) / 2) / sigma;
    weights.push_back(PortableExp(-d * d / 2));
    sum += weights.back();
  }
  std::vector<float> floats;
  for (const double weight : weights) floats.push_back(static_cast<float>(weight / sum));
  return floats;
}

// The pixel that stands for one beyond the edges: 2 1 | 0 1 2 .. n-1 | n-2 n-3.
int64_t Mirrored(int64_t i, int64_t n) {
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  i = (i % period + period) % period;
  return i < n ? i : period - i;
}

// out[x] = sum of in[x + t] * weights[t], in the order of t.
void CombineShifted(const float* in, int64_t n, const std::vector<float>& weights, float* out) {
  std::fill_n(out, n, 0.0f);
  for (size_t t = 0; t < weights.size(); ++t) {
    const float weight = weights[t];
    const float* from = in + t;
    for (int64_t x = 0; x < n; ++x) out[x] += weight * from[x];
  }
}

void StoreValues(const float* in, int64_t n, float* out) { std::copy_n(in, n, out); }
void StoreValues(const float* in, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>(std::clamp(in[i], 0.0f, 255.0f) + 0.5f);
}

template <typename T>
void BlurPlane(const T* in, int64_t height, int64_t width, const std::vector<float>& down,
               const std::vector<float>& across, BlurScratch& scratch, T* out) {
  const int64_t reach = static_cast<int64_t>(across.size()) / 2;
  const int64_t reach_down = static_cast<int64_t>(down.size()) / 2;
  scratch.padded.resize(static_cast<size_t>(width + 2 * reach));
  scratch.rows.resize(static_cast<size_t>((height + 1) * width));
  float* rows = scratch.rows.data();
  for (int64_t y = 0; y < height; ++y) {
    const T* row = in + y * width;
    for (int64_t x = -reach; x < width + reach; ++x) {
      scratch.padded[static_cast<size_t>(x + reach)] =
          static_cast<float>(row[x >= 0 && x < width ? x : Mirrored(x, width)]);
    }
    CombineShifted(scratch.padded.data(), width, across, rows + y * width);
  }
  float* sum = rows + height * width;
  for (int64_t y = 0; y < height; ++y) {
    std::fill_n(sum, width, 0.0f);
    for (size_t t = 0; t < down.size(); ++t) {
      const float weight = down[t];
      const float* from = rows + Mirrored(y + static_cast<int64_t>(t) - reach_down, height) * width;
      for (int64_t x = 0; x < width; ++x) sum[x] += weight * from[x];
    }
    StoreValues(sum, width, out + y * width);
  }
}

template <typename T>
void Blur(const T* in, const ImageShape& shape, int64_t height, int64_t width, double sigma,
          BlurScratch& scratch, T* out) {
  if (shape.num_values() == 0) return;
  const std::vector<float> down = GaussianWeights(height, sigma);
  const std::vector<float> across = GaussianWeights(width, sigma);
  for (int64_t c = 0; c < shape.channels; ++c) {
    const int64_t plane = c * shape.height * shape.width;
    BlurPlane(in + plane, shape.height, shape.width, down, across, scratch, out + plane);
  }
}

void SharpenRow(const uint8_t* above, const uint8_t* row, const uint8_t* below, int64_t width,
                float rest, uint8_t* out) {
  for (int64_t x = 1; x + 1 < width; ++x) {
    int sum = 4 * row[x];
    for (const uint8_t* line : {above, row, below}) sum += line[x - 1] + line[x] + line[x + 1];
    const int blurred = (2 * sum + 13) / 26;  // by 13, rounded to nearest; there are no halves
    const float value = row[x];
    const float result = value + rest * (static_cast<float>(blurred) - value);
    out[x] = static_cast<uint8_t>(std::clamp(result, 0.0f, 255.0f));
  }
}

}  // namespace

void BlurGaussian(const uint8_t* in, const ImageShape& shape, int64_t height, int64_t width,
                  double sigma, BlurScratch& scratch, uint8_t* out) {
  Blur(in, shape, height, width, sigma, scratch, out);
}
void BlurGaussian(const float* in, const ImageShape& shape, int64_t height, int64_t width,
                  double sigma, BlurScratch& scratch, float* out) {
  Blur(in, shape, height, width, sigma, scratch, out);
}

void AdjustSharpness(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out) {
  const auto n = static_cast<size_t>(shape.num_values());
  if (n > 0) std::memcpy(out, in, n);
  const int64_t width = shape.width;
  for (int64_t c = 0; c < shape.channels; ++c) {
    for (int64_t y = 1; y + 1 < shape.height; ++y) {
      const int64_t at = (c * shape.height + y) * width;
      SharpenRow(in + at - width, in + at, in + at + width, width, static_cast<float>(1 - factor),
                 out + at);
    }
  }
}

}  // namespace stoker
