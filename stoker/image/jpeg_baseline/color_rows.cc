#include "stoker/image/jpeg_baseline/color_rows.h"

#include <algorithm>
#include <cstring>

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/jpeg_baseline/color_rows.cc"  // NOLINT
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#ifndef STOKER_IMAGE_JPEG_BASELINE_COLOR_ROWS_ONCE
#define STOKER_IMAGE_JPEG_BASELINE_COLOR_ROWS_ONCE
namespace stoker::jpeg_baseline {

// ITU-T T.871 (JFIF): R = Y + 1.402 Cr, G = Y - 0.34414 Cb - 0.71414 Cr, B = Y + 1.772 Cb, in
// 65536ths; chroma counts from 128.
inline constexpr int kCrToR = 91881;
inline constexpr int kCbToG = -22554;
inline constexpr int kCrToG = -46802;
inline constexpr int kCbToB = 116130;
inline constexpr int kChromaZero = 128;

// The roundings of libjpeg's triangle filter, of the left and the right one of two pixels: halves
// go up and down in turns, so that they do not add up.
struct DoublingRule {
  int shift, left, right;
};
inline constexpr DoublingRule kWidened{2, 1, 2};
inline constexpr DoublingRule kSummed{4, 8, 7};

}  // namespace stoker::jpeg_baseline
#endif  // STOKER_IMAGE_JPEG_BASELINE_COLOR_ROWS_ONCE

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg_baseline {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // vectors of one value have no even and odd bytes

void ConvertVectors(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                    uint8_t* rgb) {
  ConvertRowReference(y, cb, cr, n, rgb);
}
void ConvertDoubledVectors(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x,
                           size_t n, bool summed, uint8_t* rgb) {
  ConvertDoubledRowReference(y, cb, cr, x, n, summed, rgb);
}
void WidenVectors(const uint8_t* in, size_t n, int16_t* out) { std::copy_n(in, n, out); }
void SumVectors(const uint8_t* near, const uint8_t* far, size_t n, int16_t* out) {
  SumRowsReference(near, far, n, out);
}
void BlendVectors(const uint8_t* near, const uint8_t* far, bool below, size_t n, uint8_t* out) {
  BlendRowsReference(near, far, below, n, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<int16_t>;
using DU16 = hn::ScalableTag<uint16_t>;
using D8 = hn::ScalableTag<uint8_t>;
using V16 = hn::Vec<D16>;
using V8 = hn::Vec<D8>;

struct Rgb {
  V16 r, g, b;
};

// Not yet clamped. Chroma counts from zero.
HWY_INLINE Rgb Convert(V16 y, V16 cb, V16 cr) {
  const D16 d;
  const DU16 du;
  // Factors beyond 16 bits are split into whole parts and the rest, in 32768ths. For red that loses
  // half a unit, which makes no difference for the 256 values that there are.
  const V16 r_factor = hn::Set(d, static_cast<int16_t>((kCrToR - 65536) / 2));
  const V16 b_factor = hn::Set(d, static_cast<int16_t>((kCbToB - 2 * 65536) / 2));
  const V16 r = hn::Add(hn::Add(y, cr), hn::MulFixedPoint15(cr, r_factor));
  const V16 b = hn::Add(hn::Add(y, hn::Add(cb, cb)), hn::MulFixedPoint15(cb, b_factor));
  // Green is rounded once, so the sum of two products is needed in 32 bits: their high halves, and
  // what their low halves carry with one half added. The factors are even, so half of the sum of
  // the low halves is exact.
  const V16 cb_factor = hn::Set(d, static_cast<int16_t>(kCbToG));
  const V16 cr_factor = hn::Set(d, static_cast<int16_t>(kCrToG + 65536));
  const V16 high = hn::Add(hn::MulHigh(cb, cb_factor), hn::MulHigh(cr, cr_factor));
  const auto low = hn::AverageRound(hn::BitCast(du, hn::Mul(cb, cb_factor)),
                                    hn::BitCast(du, hn::Mul(cr, cr_factor)));
  const auto carry = hn::AverageRound(hn::ShiftRight<14>(low), hn::Zero(du));
  const V16 g = hn::Add(hn::Sub(y, cr), hn::Add(high, hn::BitCast(d, carry)));
  return {r, g, b};
}

HWY_INLINE V16 Clamped(V16 v) {
  const D16 d;
  return hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, int16_t{255}));
}

// The bytes at even and at odd places.
HWY_INLINE V16 Even(V8 v) { return hn::And(hn::BitCast(D16(), v), hn::Set(D16(), int16_t{255})); }
HWY_INLINE V16 Odd(V8 v) { return hn::BitCast(D16(), hn::ShiftRight<8>(hn::BitCast(DU16(), v))); }
HWY_INLINE V8 Joined(V16 even, V16 odd) {
  return hn::BitCast(D8(), hn::Or(Clamped(even), hn::ShiftLeft<8>(Clamped(odd))));
}

HWY_INLINE void Store(const Rgb& even, const Rgb& odd, uint8_t* rgb) {
  hn::StoreInterleaved3(Joined(even.r, odd.r), Joined(even.g, odd.g), Joined(even.b, odd.b), D8(),
                        rgb);
}

// Calls pixels(i, to) for every i that is a multiple of the lanes; it stores the pixels from i on.
template <class Pixels>
HWY_INLINE void ForPixels(size_t n, uint8_t* rgb, const Pixels& pixels) {
  const size_t lanes = hn::Lanes(D8());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) pixels(i, rgb + 3 * i);
  if (i == n) return;
  HWY_ALIGN uint8_t rest[3 * hn::MaxLanes(D8())];
  pixels(i, rest);
  std::memcpy(rgb + 3 * i, rest, 3 * (n - i));
}

void ConvertVectors(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                    uint8_t* rgb) {
  const V16 zero = hn::Set(D16(), int16_t{kChromaZero});
  ForPixels(n, rgb, [&](size_t i, uint8_t* to) HWY_ATTR {
    const V8 ys = hn::LoadU(D8(), y + i);
    const V8 cbs = hn::LoadU(D8(), cb + i);
    const V8 crs = hn::LoadU(D8(), cr + i);
    Store(Convert(Even(ys), hn::Sub(Even(cbs), zero), hn::Sub(Even(crs), zero)),
          Convert(Odd(ys), hn::Sub(Odd(cbs), zero), hn::Sub(Odd(crs), zero)), to);
  });
}

// What two vectors of pixels have of one component, counted from 128: the left and the right pixels
// of samples from `at` on, or where pixels begin with a right one, the right ones of these samples
// and the left ones of the samples after them. Each is 3/4 of its own and 1/4 of the other sample.
struct TwoVectors {
  V16 first, second;
};
template <int kShift, bool kRightFirst>
HWY_INLINE TwoVectors Filtered(const int16_t* at, V16 left_rounding, V16 right_rounding) {
  const D16 d;
  const V16 here = hn::LoadU(d, at);
  const V16 after = hn::LoadU(d, at + 1);
  if constexpr (kRightFirst) {
    const V16 both = hn::Add(here, after);
    const V16 right = hn::Add(hn::Add(here, here), hn::Add(both, right_rounding));
    const V16 left = hn::Add(hn::Add(after, after), hn::Add(both, left_rounding));
    return {hn::ShiftRight<kShift>(right), hn::ShiftRight<kShift>(left)};
  }
  const V16 thrice = hn::Add(hn::Add(here, here), here);
  const V16 left = hn::Add(hn::Add(thrice, left_rounding), hn::LoadU(d, at - 1));
  const V16 right = hn::Add(hn::Add(thrice, right_rounding), after);
  return {hn::ShiftRight<kShift>(left), hn::ShiftRight<kShift>(right)};
}

template <int kShift, bool kRightFirst>
HWY_INLINE void ConvertDoubled(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t n,
                               DoublingRule rule, uint8_t* rgb) {
  constexpr int kZero = kChromaZero << kShift;
  const V16 left = hn::Set(D16(), static_cast<int16_t>(rule.left - kZero));
  const V16 right = hn::Set(D16(), static_cast<int16_t>(rule.right - kZero));
  ForPixels(n, rgb, [&](size_t i, uint8_t* to) HWY_ATTR {
    const V8 ys = hn::LoadU(D8(), y + i);
    const TwoVectors b = Filtered<kShift, kRightFirst>(cb + i / 2, left, right);
    const TwoVectors r = Filtered<kShift, kRightFirst>(cr + i / 2, left, right);
    Store(Convert(Even(ys), b.first, r.first), Convert(Odd(ys), b.second, r.second), to);
  });
}

template <int kShift>
HWY_INLINE void ConvertDoubledFrom(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x,
                                   size_t n, DoublingRule rule, uint8_t* rgb) {
  cb += x / 2;
  cr += x / 2;
  if (x % 2 != 0) {
    ConvertDoubled<kShift, true>(y, cb, cr, n, rule, rgb);
  } else {
    ConvertDoubled<kShift, false>(y, cb, cr, n, rule, rgb);
  }
}

void ConvertDoubledVectors(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x,
                           size_t n, bool summed, uint8_t* rgb) {
  if (summed) {
    ConvertDoubledFrom<kSummed.shift>(y, cb, cr, x, n, kSummed, rgb);
  } else {
    ConvertDoubledFrom<kWidened.shift>(y, cb, cr, x, n, kWidened, rgb);
  }
}

HWY_INLINE V16 LoadWide(const uint8_t* from) {
  return hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<uint8_t, D16>(), from));
}

HWY_INLINE V16 Sum(const uint8_t* near, const uint8_t* far) {
  const V16 nearer = LoadWide(near);
  return hn::Add(hn::Add(nearer, nearer), hn::Add(nearer, LoadWide(far)));
}

void WidenVectors(const uint8_t* in, size_t n, int16_t* out) {
  const D16 d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(LoadWide(in + i), d, out + i);
}

void SumVectors(const uint8_t* near, const uint8_t* far, size_t n, int16_t* out) {
  const D16 d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(Sum(near + i, far + i), d, out + i);
}

void BlendVectors(const uint8_t* near, const uint8_t* far, bool below, size_t n, uint8_t* out) {
  const D16 d;
  const hn::Rebind<uint8_t, D16> bytes;
  const V16 rounding = hn::Set(d, static_cast<int16_t>(below ? 2 : 1));
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const V16 sum = hn::Add(Sum(near + i, far + i), rounding);
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<2>(sum)), bytes, out + i);
  }
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg_baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg_baseline {
namespace {

HWY_EXPORT(ConvertVectors);
HWY_EXPORT(ConvertDoubledVectors);
HWY_EXPORT(WidenVectors);
HWY_EXPORT(SumVectors);
HWY_EXPORT(BlendVectors);

uint8_t Clamp(int v) { return static_cast<uint8_t>(std::clamp(v, 0, 255)); }

void ConvertPixel(int y, int cb, int cr, uint8_t* rgb) {
  constexpr int kHalf = 1 << 15;
  rgb[0] = Clamp(y + ((kCrToR * cr + kHalf) >> 16));
  rgb[1] = Clamp(y + ((kCbToG * cb + kCrToG * cr + kHalf) >> 16));
  rgb[2] = Clamp(y + ((kCbToB * cb + kHalf) >> 16));
}

}  // namespace

void ConvertRow(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(ConvertVectors)(y, cb, cr, n, rgb);
}

void ConvertRowReference(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                         uint8_t* rgb) {
  for (size_t i = 0; i < n; ++i) {
    ConvertPixel(y[i], cb[i] - kChromaZero, cr[i] - kChromaZero, rgb + 3 * i);
  }
}

void ConvertDoubledRow(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x, size_t n,
                       bool summed, uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(ConvertDoubledVectors)(y, cb, cr, x, n, summed, rgb);
}

void ConvertDoubledRowReference(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x,
                                size_t n, bool summed, uint8_t* rgb) {
  const DoublingRule rule = summed ? kSummed : kWidened;
  for (size_t i = 0; i < n; ++i) {
    const bool right = (x + i) % 2 != 0;
    const size_t near = (x + i) / 2;
    const size_t far = right ? near + 1 : near - 1;
    const auto filtered = [&](const int16_t* c) {
      return ((3 * c[near] + c[far] + (right ? rule.right : rule.left)) >> rule.shift) -
             kChromaZero;
    };
    ConvertPixel(y[i], filtered(cb), filtered(cr), rgb + 3 * i);
  }
}

void WidenRow(const uint8_t* in, size_t n, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(WidenVectors)(in, n, out);
}

void SumRows(const uint8_t* near, const uint8_t* far, size_t n, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(SumVectors)(near, far, n, out);
}

void SumRowsReference(const uint8_t* near, const uint8_t* far, size_t n, int16_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(3 * near[i] + far[i]);
}

void BlendRows(const uint8_t* near, const uint8_t* far, bool below, size_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(BlendVectors)(near, far, below, n, out);
}

void BlendRowsReference(const uint8_t* near, const uint8_t* far, bool below, size_t n,
                        uint8_t* out) {
  for (size_t i = 0; i < n; ++i) {
    out[i] = static_cast<uint8_t>((3 * near[i] + far[i] + (below ? 2 : 1)) >> 2);
  }
}

void RepeatSamples(const uint8_t* in, size_t times, size_t x, size_t n, uint8_t* out) {
  for (size_t i = 0; i < n; ++i) out[i] = in[(x + i) / times];
}

}  // namespace stoker::jpeg_baseline
#endif  // HWY_ONCE
