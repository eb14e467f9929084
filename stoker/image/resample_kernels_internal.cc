#include "stoker/image/resample_kernels_internal.h"

#include <algorithm>
#include <cstring>

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/resample_kernels_internal.cc"  // NOLINT: foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // no blocks in a vector of one value

void WidenBytes(const uint8_t* in, size_t n, int16_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(in[i] << kMiddleBits);
}
void CombineByteRows(const uint8_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                     int shift, int16_t* out) {
  CombineRowsReference(rows, weights, pairs, n, shift, out);
}
void CombineMiddleRows(const int16_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                       int shift, uint8_t* out) {
  CombineRowsReference(rows, weights, pairs, n, shift, out);
}
void PairInterleavedPixels(const int16_t* row, int64_t channels, int64_t blocks,
                           int64_t block_stride, int16_t* out) {
  PairInterleavedReference(row, channels, blocks, block_stride, out);
}
void PairPlanarPixels(const int16_t* row, int64_t plane_stride, int64_t channels, int64_t blocks,
                      int64_t block_stride, int16_t* out) {
  PairPlanesReference(row, plane_stride, channels, blocks, block_stride, out);
}
void CombineColumnsToBytes(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                           int shift, uint8_t* const* rows) {
  CombineColumnsReference(blocks, weights, width, shift, rows[0]);
}
void CombineColumnsToMiddle(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                            int shift, int16_t* const* rows) {
  CombineColumnsReference(blocks, weights, width, shift, rows[0]);
}
int64_t BlocksHere() { return 1; }

#else

using D16 = hn::ScalableTag<int16_t>;
using D32 = hn::ScalableTag<int32_t>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
constexpr D16 d16;
constexpr D32 d32;

// sum[i] + a[2i] * b[2i] + a[2i + 1] * b[2i + 1].
HWY_INLINE V32 AddDots(V32 sum, V16 a, V16 b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  V32 second = hn::Zero(d32);  // stays so: x86 adds neighbours
  return hn::ReorderWidenMulAccumulate(d32, a, b, sum, second);
#else
  const V32 a32 = hn::BitCast(d32, a), b32 = hn::BitCast(d32, b);
  const auto low = [](V32 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  const V32 even = hn::Mul(low(a32), low(b32));
  const V32 odd = hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32));
  return hn::Add(sum, hn::Add(even, odd));
#endif
}

// Two weights, again and again.
HWY_INLINE V16 PairOfWeights(const int16_t* weights) {
  int32_t pair;
  std::memcpy(&pair, weights, sizeof(pair));
  return hn::BitCast(d16, hn::Set(d32, pair));
}

HWY_INLINE V32 Shifted(V32 sum, int shift, int16_t max) {
  return hn::Min(hn::Max(hn::ShiftRightSame(sum, shift), hn::Zero(d32)), hn::Set(d32, max));
}

HWY_INLINE V16 LoadValues(const int16_t* from) { return hn::LoadU(d16, from); }
HWY_INLINE V16 LoadValues(const uint8_t* from) {
  return hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, D16>(), from));
}
HWY_INLINE void StoreValues(V16 values, int16_t* to) { hn::StoreU(values, d16, to); }
HWY_INLINE void StoreValues(V16 values, uint8_t* to) {
  const hn::Rebind<uint8_t, D16> d8;
  hn::StoreU(hn::DemoteTo(d8, values), d8, to);
}

// Rows are interleaved within the vector's blocks and packed within them again, which puts the
// values back into their order.
template <typename In, typename Out>
HWY_INLINE void CombineRowsOf(const In* const* rows, const int16_t* weights, int64_t pairs,
                              size_t n, int shift, Out* out) {
  const size_t lanes = hn::Lanes(d16);
  if (n < lanes) return CombineRowsReference(rows, weights, pairs, n, shift, out);
  const V32 half = hn::Set(d32, 1 << (shift - 1));
  for (size_t i = 0; i < n; i += lanes) {
    i = std::min(i, n - lanes);  // the last vector overlaps the one before
    V32 low = half, high = half;
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const V16 w = PairOfWeights(weights + 2 * pair);
      const V16 a = LoadValues(rows[2 * pair] + i), b = LoadValues(rows[2 * pair + 1] + i);
      low = AddDots(low, hn::InterleaveLower(d16, a, b), w);
      high = AddDots(high, hn::InterleaveUpper(d16, a, b), w);
    }
    low = Shifted(low, shift, MaxOf<Out>());
    high = Shifted(high, shift, MaxOf<Out>());
    StoreValues(hn::ReorderDemote2To(d16, low, high), out + i);
  }
}

void CombineByteRows(const uint8_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                     int shift, int16_t* out) {
  CombineRowsOf(rows, weights, pairs, n, shift, out);
}
void CombineMiddleRows(const int16_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                       int shift, uint8_t* out) {
  CombineRowsOf(rows, weights, pairs, n, shift, out);
}

void WidenBytes(const uint8_t* in, size_t n, int16_t* out) {
  const size_t lanes = hn::Lanes(d16);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::ShiftLeft<kMiddleBits>(LoadValues(in + i)), d16, out + i);
  }
  for (; i < n; ++i) out[i] = static_cast<int16_t>(in[i] << kMiddleBits);
}

void PairInterleavedPixels(const int16_t* row, int64_t channels, int64_t blocks,
                           int64_t block_stride, int16_t* out) {
  alignas(16) uint8_t order[16];  // which byte of 2 pixels goes where
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t channel = std::min(i / 4, channels - 1), pixel = i / 2 % 2;
    order[i] = static_cast<uint8_t>((pixel * channels + channel) * 2 + i % 2);
  }
  const hn::FixedTag<uint8_t, 16> d8;
  const hn::FixedTag<int16_t, 8> block;
  const auto shuffle = hn::Load(d8, order);
  for (int64_t i = 0; i < blocks; ++i) {
    const auto pixels = hn::BitCast(d8, hn::LoadU(block, row + i * 2 * channels));
    hn::StoreU(hn::BitCast(block, hn::TableLookupBytes(pixels, shuffle)), block,
               out + i * block_stride);
  }
}

// Four blocks at once: a transposition of pairs.
void PairPlanarPixels(const int16_t* row, int64_t plane_stride, int64_t channels, int64_t blocks,
                      int64_t block_stride, int16_t* out) {
  const hn::FixedTag<int32_t, 4> pairs;
  const hn::FixedTag<int64_t, 2> couples;
  const hn::FixedTag<int16_t, 8> block;
  const auto load = [&](int64_t channel, int64_t i) {
    const int16_t* plane = row + std::min(channel, channels - 1) * plane_stride;
    return hn::BitCast(pairs, hn::LoadU(block, plane + 2 * i));
  };
  for (int64_t i = 0; i < blocks; i += 4) {
    const auto r = load(0, i), g = load(1, i), b = load(2, i), x = load(3, i);
    const auto rg = hn::BitCast(couples, hn::InterleaveLower(pairs, r, g));
    const auto bx = hn::BitCast(couples, hn::InterleaveLower(pairs, b, x));
    const auto rg2 = hn::BitCast(couples, hn::InterleaveUpper(pairs, r, g));
    const auto bx2 = hn::BitCast(couples, hn::InterleaveUpper(pairs, b, x));
    int16_t* to = out + i * block_stride;
    const auto store = [&](auto v) {
      hn::StoreU(hn::BitCast(block, v), block, to);
      to += block_stride;
    };
    store(hn::InterleaveLower(couples, rg, bx));
    if (i + 1 < blocks) store(hn::InterleaveUpper(couples, rg, bx));
    if (i + 2 < blocks) store(hn::InterleaveLower(couples, rg2, bx2));
    if (i + 3 < blocks) store(hn::InterleaveUpper(couples, rg2, bx2));
  }
}

// Pixels of each row lie in the row's block; `values` are two pixels of 16 bits, or four of 8.
template <typename T>
HWY_INLINE void StoreBlocks(V16 values, int64_t at, T* const* rows) {
  HWY_ALIGN int16_t blocks[hn::MaxLanes(d16)];
  hn::Store(values, d16, blocks);
  for (size_t r = 0; r < hn::Lanes(d16) / 8; ++r) std::memcpy(rows[r] + at, blocks + 8 * r, 16);
}

HWY_INLINE void StoreFour(V16 first, V16 second, int64_t x, int16_t* const* rows) {
  StoreBlocks(first, x * 4, rows);
  StoreBlocks(second, x * 4 + 8, rows);
}
HWY_INLINE void StoreFour(V16 first, V16 second, int64_t x, uint8_t* const* rows) {
  // The values are bytes already: the lower byte of each.
  alignas(16) static constexpr uint8_t kEven[16] = {0,   2,   4,   6,   8,   10,  12,  14,
                                                    128, 128, 128, 128, 128, 128, 128, 128};
  alignas(16) static constexpr uint8_t kThenEven[16] = {128, 128, 128, 128, 128, 128, 128, 128,
                                                        0,   2,   4,   6,   8,   10,  12,  14};
  const hn::Repartition<uint8_t, D16> d8;
  const auto low = hn::TableLookupBytesOr0(hn::BitCast(d8, first), hn::LoadDup128(d8, kEven));
  const auto high = hn::TableLookupBytesOr0(hn::BitCast(d8, second), hn::LoadDup128(d8, kThenEven));
  StoreBlocks(hn::BitCast(d16, hn::Or(low, high)), x * 4, rows);
}

template <typename Out>
HWY_INLINE void CombineColumnsOf(const int16_t* blocks, const AxisWeights& table, int64_t width,
                                 int shift, Out* const* rows) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d16)), pairs = table.pairs();
  const int32_t* first = table.firsts();
  const int16_t* weights = table.weights(0);
  const V32 half = hn::Set(d32, 1 << (shift - 1));
  const auto pixel = [&](int64_t x) HWY_ATTR {
    const int16_t* taps = blocks + first[x] / 2 * lanes;
    const int16_t* w = weights + x * pairs * 2;
    V32 sum = half;
    for (int64_t i = 0; i < pairs; ++i) {
      sum = AddDots(sum, hn::Load(d16, taps + i * lanes), PairOfWeights(w + 2 * i));
    }
    return Shifted(sum, shift, MaxOf<Out>());
  };
  for (int64_t x = 0; x < width; x += 4) {
    const V16 one = hn::ReorderDemote2To(d16, pixel(x), pixel(x + 1));
    const V16 two = hn::ReorderDemote2To(d16, pixel(x + 2), pixel(x + 3));
    StoreFour(one, two, x, rows);
  }
}

void CombineColumnsToBytes(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                           int shift, uint8_t* const* rows) {
  CombineColumnsOf(blocks, weights, width, shift, rows);
}
void CombineColumnsToMiddle(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                            int shift, int16_t* const* rows) {
  CombineColumnsOf(blocks, weights, width, shift, rows);
}

int64_t BlocksHere() { return static_cast<int64_t>(hn::Lanes(d16)) / kBlockValues; }

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(WidenBytes);
HWY_EXPORT(CombineByteRows);
HWY_EXPORT(CombineMiddleRows);
HWY_EXPORT(PairInterleavedPixels);
HWY_EXPORT(PairPlanarPixels);
HWY_EXPORT(CombineColumnsToBytes);
HWY_EXPORT(CombineColumnsToMiddle);
HWY_EXPORT(BlocksHere);

}  // namespace

void WidenRow(const uint8_t* in, size_t n, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(WidenBytes)(in, n, out);
}

void CombineRows(const uint8_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                 int shift, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(CombineByteRows)(rows, weights, pairs, n, shift, out);
}
void CombineRows(const int16_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                 int shift, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(CombineMiddleRows)(rows, weights, pairs, n, shift, out);
}
int64_t BlocksInVector() { return HWY_DYNAMIC_DISPATCH(BlocksHere)(); }

void PairInterleaved(const int16_t* row, int64_t channels, int64_t blocks, int64_t block_stride,
                     int16_t* out) {
  HWY_DYNAMIC_DISPATCH(PairInterleavedPixels)(row, channels, blocks, block_stride, out);
}
void PairPlanes(const int16_t* row, int64_t plane_stride, int64_t channels, int64_t blocks,
                int64_t block_stride, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(PairPlanarPixels)(row, plane_stride, channels, blocks, block_stride, out);
}

void CombineColumns(const int16_t* blocks, const AxisWeights& weights, int64_t width, int shift,
                    uint8_t* const* rows) {
  HWY_DYNAMIC_DISPATCH(CombineColumnsToBytes)(blocks, weights, width, shift, rows);
}
void CombineColumns(const int16_t* blocks, const AxisWeights& weights, int64_t width, int shift,
                    int16_t* const* rows) {
  HWY_DYNAMIC_DISPATCH(CombineColumnsToMiddle)(blocks, weights, width, shift, rows);
}

}  // namespace stoker
#endif  // HWY_ONCE
