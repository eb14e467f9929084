// The plain twins of the steps of a resize.
#include <algorithm>

#include "stoker/image/resample_kernels_internal.h"

namespace stoker {
namespace {

template <typename In, typename Out>
void CombineRowsOf(const In* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                   int shift, Out* out) {
  for (size_t i = 0; i < n; ++i) {
    int32_t sum = 1 << (shift - 1);
    for (int64_t t = 0; t < 2 * pairs; ++t) sum += int32_t{rows[t][i]} * weights[t];
    out[i] = static_cast<Out>(std::clamp<int32_t>(sum >> shift, 0, MaxOf<Out>()));
  }
}

template <typename Out>
void CombineColumnsOf(const int16_t* blocks, const AxisWeights& weights, int64_t width, int shift,
                      Out* row) {
  for (int64_t x = 0; x < width; ++x) {
    const int16_t* taps = blocks + weights.first(x) / 2 * kBlockValues;
    for (int64_t c = 0; c < kPixelBytes; ++c) {
      int32_t sum = 1 << (shift - 1);
      for (int64_t t = 0; t < 2 * weights.pairs(); ++t)
        sum += int32_t{taps[t / 2 * kBlockValues + 2 * c + t % 2]} * weights.weights(x)[t];
      row[x * kPixelBytes + c] =
          static_cast<Out>(std::clamp<int32_t>(sum >> shift, 0, MaxOf<Out>()));
    }
  }
}

// `step` values from a pixel to the next, `plane` from a channel to the next.
void Pair(const int16_t* row, int64_t step, int64_t plane, int64_t channels, int64_t blocks,
          int64_t block_stride, int16_t* out) {
  for (int64_t i = 0; i < blocks; ++i) {
    for (int64_t c = 0; c < kPixelBytes; ++c) {
      const int16_t* from = row + 2 * i * step + std::min(c, channels - 1) * plane;
      out[i * block_stride + 2 * c] = from[0];
      out[i * block_stride + 2 * c + 1] = from[step];
    }
  }
}

}  // namespace

void CombineRowsReference(const uint8_t* const* rows, const int16_t* weights, int64_t pairs,
                          size_t n, int shift, int16_t* out) {
  CombineRowsOf(rows, weights, pairs, n, shift, out);
}
void CombineRowsReference(const int16_t* const* rows, const int16_t* weights, int64_t pairs,
                          size_t n, int shift, uint8_t* out) {
  CombineRowsOf(rows, weights, pairs, n, shift, out);
}

void PairInterleavedReference(const int16_t* row, int64_t channels, int64_t blocks,
                              int64_t block_stride, int16_t* out) {
  Pair(row, channels, 1, channels, blocks, block_stride, out);
}
void PairPlanesReference(const int16_t* row, int64_t plane_stride, int64_t channels, int64_t blocks,
                         int64_t block_stride, int16_t* out) {
  Pair(row, 1, plane_stride, channels, blocks, block_stride, out);
}

void CombineColumnsReference(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                             int shift, uint8_t* row) {
  CombineColumnsOf(blocks, weights, width, shift, row);
}
void CombineColumnsReference(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                             int shift, int16_t* row) {
  CombineColumnsOf(blocks, weights, width, shift, row);
}

}  // namespace stoker
