#include "stoker/image/color_kernels_internal.h"

// Highway compiles this file once for each instruction set; what follows HWY_ONCE only once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/color_kernels_internal.cc"  // NOLINT: foreach_target.h
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Products and sums are never fused: every instruction set rounds alike.
using ColorTag = hn::ScalableTag<float>;
using ColorVec = hn::Vec<ColorTag>;
constexpr ColorTag color_tag;

HWY_INLINE ColorVec Same(float value) { return hn::Set(color_tag, value); }

HWY_INLINE ColorVec LoadColor(const uint8_t* from) {
  const hn::Rebind<uint8_t, ColorTag> d8;
  const hn::Rebind<int32_t, ColorTag> d32;
  return hn::ConvertTo(color_tag, hn::PromoteTo(d32, hn::LoadU(d8, from)));
}

// Stores values of 0..255.999, truncated.
HWY_INLINE void StoreColor(ColorVec values, uint8_t* to) {
  const hn::Rebind<uint8_t, ColorTag> d8;
  const hn::Rebind<int32_t, ColorTag> d32;
  hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(d32, values)), d8, to);
}

HWY_INLINE ColorVec Clamped(ColorVec values, float most) {
  return hn::Min(hn::Max(values, hn::Zero(color_tag)), Same(most));
}

HWY_INLINE ColorVec GrayOf(ColorVec r, ColorVec g, ColorVec b) {
  const ColorVec sum = hn::Add(hn::Add(hn::Mul(r, Same(0.2989f)), hn::Mul(Same(0.587f), g)),
                               hn::Mul(Same(0.114f), b));
  const hn::Rebind<int32_t, ColorTag> d32;
  return hn::ConvertTo(color_tag, hn::ConvertTo(d32, sum));
}

void ScaleVectors(const uint8_t* in, int64_t n, float factor, float offset, uint8_t* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(color_tag));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    StoreColor(Clamped(hn::Add(hn::Mul(LoadColor(in + i), Same(factor)), Same(offset)), 255),
               out + i);
  }
  ScaleBytesReference(in + i, n - i, factor, offset, out + i);
}

void GrayVectors(const ConstColorPlanes& in, int64_t n, uint8_t* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(color_tag));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    StoreColor(GrayOf(LoadColor(in.r + i), LoadColor(in.g + i), LoadColor(in.b + i)), out + i);
  GrayPixelsReference({in.r + i, in.g + i, in.b + i}, n - i, out + i);
}

void SaturateVectors(const ConstColorPlanes& in, int64_t n, float first, float second,
                     const ColorPlanes& out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(color_tag));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const ColorVec r = LoadColor(in.r + i), g = LoadColor(in.g + i), b = LoadColor(in.b + i);
    const ColorVec rest = hn::Mul(Same(second), GrayOf(r, g, b));
    StoreColor(Clamped(hn::Add(hn::Mul(r, Same(first)), rest), 255), out.r + i);
    StoreColor(Clamped(hn::Add(hn::Mul(g, Same(first)), rest), 255), out.g + i);
    StoreColor(Clamped(hn::Add(hn::Mul(b, Same(first)), rest), 255), out.b + i);
  }
  SaturatePixelsReference({in.r + i, in.g + i, in.b + i}, n - i, first, second,
                          {out.r + i, out.g + i, out.b + i});
}

// 0..1, and 0 where there is none.
HWY_INLINE ColorVec HueOf(ColorVec r, ColorVec g, ColorVec b, ColorVec most, ColorVec range) {
  const ColorVec one = Same(1);
  const ColorVec divisor = hn::IfThenElse(hn::Eq(range, hn::Zero(color_tag)), one, range);
  const ColorVec rc = hn::Div(hn::Sub(most, r), divisor), gc = hn::Div(hn::Sub(most, g), divisor);
  const ColorVec bc = hn::Div(hn::Sub(most, b), divisor);
  const ColorVec of_blue = hn::Sub(hn::Add(gc, Same(4)), rc);
  const ColorVec of_green = hn::Sub(hn::Add(rc, Same(2)), bc);
  ColorVec h = hn::IfThenElse(hn::Eq(most, g), of_green, of_blue);
  h = hn::IfThenElse(hn::Eq(most, r), hn::Sub(bc, gc), h);
  h = hn::Add(hn::Mul(h, Same(1.0f / 6)), one);
  return hn::IfThenElse(hn::Ge(h, one), hn::Sub(h, one), h);
}

// The component that is a in sector 0, b in sector 1, ... of the six.
HWY_INLINE ColorVec BySector(ColorVec sector, const ColorVec (&of)[6]) {
  ColorVec chosen = of[5];
  for (int i = 4; i >= 0; --i) {
    chosen = hn::IfThenElse(hn::Eq(sector, Same(static_cast<float>(i))), of[i], chosen);
  }
  return chosen;
}

HWY_INLINE ColorVec ByteOf(ColorVec share) {
  return hn::Mul(Clamped(share, 1), Same(256.0f - 1e-3f));
}

HWY_INLINE void StoreHsv(ColorVec h, ColorVec s, ColorVec v, const ColorPlanes& out, int64_t i) {
  const ColorVec one = Same(1), sixths = hn::Mul(h, Same(6)), sector = hn::Trunc(sixths);
  const ColorVec rest = hn::Mul(hn::Sub(sixths, sector), s), pale = hn::Sub(one, s);
  const ColorVec p = ByteOf(hn::Mul(pale, v)), full = ByteOf(v);
  const ColorVec q = ByteOf(hn::Mul(hn::Sub(one, rest), v));
  const ColorVec t = ByteOf(hn::Mul(hn::Add(rest, pale), v));
  StoreColor(BySector(sector, {full, q, p, p, t, full}), out.r + i);
  StoreColor(BySector(sector, {t, full, full, q, p, p}), out.g + i);
  StoreColor(BySector(sector, {p, p, t, full, full, q}), out.b + i);
}

void TurnVectors(const ConstColorPlanes& in, int64_t n, float turns, const ColorPlanes& out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(color_tag));
  const ColorVec unit = Same(1.0f / 255), zero = hn::Zero(color_tag), one = Same(1);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const ColorVec r = hn::Mul(LoadColor(in.r + i), unit), g = hn::Mul(LoadColor(in.g + i), unit);
    const ColorVec b = hn::Mul(LoadColor(in.b + i), unit);
    const ColorVec most = hn::Max(hn::Max(r, g), b);
    const ColorVec range = hn::Sub(most, hn::Min(hn::Min(r, g), b));
    ColorVec h = hn::Add(HueOf(r, g, b, most, range), Same(turns));
    h = hn::IfThenElse(hn::Lt(h, zero), hn::Add(h, one), h);
    h = hn::IfThenElse(hn::Ge(h, one), hn::Sub(h, one), h);
    const ColorVec s = hn::Div(range, hn::IfThenElse(hn::Eq(most, zero), one, most));
    StoreHsv(h, s, most, out, i);
  }
  TurnHuesReference({in.r + i, in.g + i, in.b + i}, n - i, turns,
                    {out.r + i, out.g + i, out.b + i});
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {

HWY_EXPORT(ScaleVectors);
HWY_EXPORT(GrayVectors);
HWY_EXPORT(SaturateVectors);
HWY_EXPORT(TurnVectors);

}  // namespace

void ScaleBytes(const uint8_t* in, int64_t n, float factor, float offset, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ScaleVectors)(in, n, factor, offset, out);
}
void GrayPixels(const ConstColorPlanes& in, int64_t n, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(GrayVectors)(in, n, out);
}
void SaturatePixels(const ConstColorPlanes& in, int64_t n, float first, float second,
                    const ColorPlanes& out) {
  HWY_DYNAMIC_DISPATCH(SaturateVectors)(in, n, first, second, out);
}
void TurnHues(const ConstColorPlanes& in, int64_t n, float turns, const ColorPlanes& out) {
  HWY_DYNAMIC_DISPATCH(TurnVectors)(in, n, turns, out);
}

}  // namespace stoker
#endif  // HWY_ONCE
