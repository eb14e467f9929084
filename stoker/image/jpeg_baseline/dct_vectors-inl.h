// Shared by the inverse DCTs: adjacent blocks in vectors, and 32-bit sums of products. Included
// once for every target, like Highway's own files of this kind.
#ifndef STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_ONCE
#define STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_ONCE

#include "stoker/image/jpeg_baseline/entropy_decoder.h"

namespace stoker::jpeg_baseline {

inline constexpr int kConstantBits = 13;
inline constexpr int kPassBits = 2;  // more precision between the passes

// Instrumented for sanitizers, four inlined passes take a compiler minutes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HWY_IS_ASAN || HWY_IS_TSAN
#define STOKER_PASS inline HWY_NOINLINE
#else
#define STOKER_PASS HWY_INLINE
#endif

}  // namespace stoker::jpeg_baseline
#endif  // STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_ONCE

#if defined(STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_INL
#undef STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_INL
#else
#define STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_INL
#endif

#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR  // vectors of one value hold no row
HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg_baseline {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::CappedTag<int16_t, kGroupRow>;
using D32 = hn::RepartitionToWide<D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// Sums of 32 bits for the lower and the upper half of each part.
struct Wide {
  V32 low, high;
};
HWY_INLINE Wide operator+(Wide a, Wide b) {
  return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)};
}
HWY_INLINE Wide operator-(Wide a, Wide b) {
  return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)};
}

// Returns, for each pair of values, the sum of its products with the two factors.
HWY_INLINE V32 SumOfProducts(V16 pairs, int factor_a, int factor_b) {
  const D32 d;
  const uint32_t both = static_cast<uint16_t>(factor_a) |
                        static_cast<uint32_t>(static_cast<uint16_t>(factor_b)) << 16;
  const V16 factors = hn::BitCast(D16(), hn::Set(d, static_cast<int32_t>(both)));
#if HWY_ARCH_X86
  V32 unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, pairs, factors, hn::Zero(d), unused);  // pmaddwd
#else
  const auto even = [](V16 v) {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(D32(), v)));
  };
  const auto odd = [](V16 v) { return hn::ShiftRight<16>(hn::BitCast(D32(), v)); };
  return hn::Add(hn::Mul(even(pairs), even(factors)), hn::Mul(odd(pairs), odd(factors)));
#endif
}

// Values of two vectors, in pairs.
struct Pairs {
  V16 low, high;
};
HWY_INLINE Pairs PairUp(V16 a, V16 b) {
  return {hn::InterleaveLower(a, b), hn::InterleaveUpper(D16(), a, b)};
}
HWY_INLINE Wide Products(Pairs pairs, int factor_a, int factor_b) {
  return {SumOfProducts(pairs.low, factor_a, factor_b),
          SumOfProducts(pairs.high, factor_a, factor_b)};
}

// v * 2^kBits, plus the rounding term of the final shift.
template <int kShift, int kBits = kConstantBits>
HWY_INLINE Wide Scaled(V16 v) {
  const D32 d;
  const V16 zero = hn::Zero(D16());
  const V32 rounding = hn::Set(d, 1 << (kShift - 1));
  const Pairs raised = PairUp(zero, v);  // v * 2^16
  return {hn::Add(hn::ShiftRight<16 - kBits>(hn::BitCast(d, raised.low)), rounding),
          hn::Add(hn::ShiftRight<16 - kBits>(hn::BitCast(d, raised.high)), rounding)};
}

template <int kShift>
HWY_INLINE V16 Narrowed(Wide v) {
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kShift>(v.low), hn::ShiftRight<kShift>(v.high));
}

// Transposes each part.
STOKER_PASS void Transpose(V16 (&rows)[8]) {
  const D16 d;
  V16 a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = hn::InterleaveLower(rows[i], rows[i + 4]);
    a[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = hn::InterleaveLower(a[i], a[i + 4]);
    b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    rows[2 * i] = hn::InterleaveLower(b[i], b[i + 4]);
    rows[2 * i + 1] = hn::InterleaveUpper(d, b[i], b[i + 4]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg_baseline
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // STOKER_IMAGE_JPEG_BASELINE_DCT_VECTORS_INL
