#include "stoker/image/jpeg_baseline/inverse_dct.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/image/jpeg_baseline/dct_targets.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/jpeg_baseline/inverse_dct.cc"  // NOLINT
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "stoker/image/jpeg_baseline/dct_vectors-inl.h"

#ifndef STOKER_IMAGE_JPEG_BASELINE_INVERSE_DCT_ONCE
#define STOKER_IMAGE_JPEG_BASELINE_INVERSE_DCT_ONCE
namespace stoker::jpeg_baseline {

// In units of 2^-13.
inline constexpr int k0_298 = 2446;
inline constexpr int k0_390 = 3196;
inline constexpr int k0_541 = 4433;
inline constexpr int k0_765 = 6270;
inline constexpr int k0_899 = 7373;
inline constexpr int k1_175 = 9633;
inline constexpr int k1_501 = 12299;
inline constexpr int k1_847 = 15137;
inline constexpr int k1_961 = 16069;
inline constexpr int k2_053 = 16819;
inline constexpr int k2_562 = 20995;
inline constexpr int k3_072 = 25172;

inline constexpr int kFirstShift = kConstantBits - kPassBits;
inline constexpr int kSecondShift = kConstantBits + kPassBits + 3;

// libjpeg leaves out a pass over columns with nothing below their first value. What it does instead
// is the same for values that are smaller than this.
inline constexpr int kPlainLimit = 8192;

// Up to this place of the zigzag all values are in the first four rows and columns.
inline constexpr int kLastOfQuarter = 9;

}  // namespace stoker::jpeg_baseline
#endif  // STOKER_IMAGE_JPEG_BASELINE_INVERSE_DCT_ONCE

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg_baseline {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // vectors of one value hold no row

bool InverseDctVectors(int16_t* values, const int16_t* divisors, int last_place, uint8_t* out,
                       ptrdiff_t stride) {
  return InverseDctGroupReference(values, divisors, last_place, out, stride);
}

#else

// One pass over all lanes: rows[i] holds the i-th value of each lane's column. In a quarter pass
// rows 4..7 are taken for zero.
template <int kShift, bool kQuarter>
STOKER_PASS void Pass(V16 (&rows)[8]) {
  Wide even0, even1, even2, even3;
  Wide odd0, odd1, odd2, odd3;  // by their distance from the middle
  if constexpr (kQuarter) {
    const V16 zero = hn::Zero(D16());
    const Wide dc = Scaled<kShift>(rows[0]);
    const Pairs p2 = PairUp(rows[2], zero);
    const Wide sum3 = Products(p2, k0_541 + k0_765, 0);
    const Wide sum2 = Products(p2, k0_541, 0);
    even0 = dc + sum3, even3 = dc - sum3, even1 = dc + sum2, even2 = dc - sum2;
    const Pairs p31 = PairUp(rows[3], rows[1]);
    odd0 = Products(p31, k1_175 - k1_961, k1_175 - k0_899);
    odd1 = Products(p31, k1_175 - k2_562, k1_175 - k0_390);
    odd2 = Products(p31, k1_175 - k1_961 + k3_072 - k2_562, k1_175);
    odd3 = Products(p31, k1_175, k1_175 - k0_390 + k1_501 - k0_899);
  } else {
    const Wide tmp0 = Scaled<kShift>(hn::Add(rows[0], rows[4]));
    const Wide tmp1 = Scaled<kShift>(hn::Sub(rows[0], rows[4]));
    const Pairs p26 = PairUp(rows[2], rows[6]);
    const Wide tmp3 = Products(p26, k0_541 + k0_765, k0_541);
    const Wide tmp2 = Products(p26, k0_541, k0_541 - k1_847);
    even0 = tmp0 + tmp3, even3 = tmp0 - tmp3, even1 = tmp1 + tmp2, even2 = tmp1 - tmp2;
    const Pairs z34 = PairUp(hn::Add(rows[7], rows[3]), hn::Add(rows[5], rows[1]));
    const Wide z3 = Products(z34, k1_175 - k1_961, k1_175);
    const Wide z4 = Products(z34, k1_175, k1_175 - k0_390);
    const Pairs p71 = PairUp(rows[7], rows[1]);
    const Pairs p53 = PairUp(rows[5], rows[3]);
    odd0 = Products(p71, k0_298 - k0_899, -k0_899) + z3;
    odd1 = Products(p53, k2_053 - k2_562, -k2_562) + z4;
    odd2 = Products(p53, -k2_562, k3_072 - k2_562) + z3;
    odd3 = Products(p71, -k0_899, k1_501 - k0_899) + z4;
  }
  rows[0] = Narrowed<kShift>(even0 + odd3);
  rows[7] = Narrowed<kShift>(even0 - odd3);
  rows[1] = Narrowed<kShift>(even1 + odd2);
  rows[6] = Narrowed<kShift>(even1 - odd2);
  rows[2] = Narrowed<kShift>(even2 + odd1);
  rows[5] = Narrowed<kShift>(even2 - odd1);
  rows[3] = Narrowed<kShift>(even3 + odd0);
  rows[4] = Narrowed<kShift>(even3 - odd0);
}

// Loads rows, dequantised, and clears them. True if the first row is within kPlainLimit.
template <int kRows>
HWY_INLINE bool LoadRows(int16_t* values, const int16_t* divisors, V16 (&rows)[8]) {
  const D16 d;
  for (int i = 0; i < kRows; ++i) {
    rows[i] =
        hn::Mul(hn::Load(d, values + i * kGroupRow), hn::LoadDup128(d, divisors + i * kBlockSize));
    hn::Store(hn::Zero(d), d, values + i * kGroupRow);
  }
  for (int i = kRows; i < 8; ++i) rows[i] = hn::Zero(d);
  const V16 limit = hn::Set(d, static_cast<int16_t>(kPlainLimit - 1));
  const V16 low_limit = hn::Set(d, static_cast<int16_t>(-kPlainLimit));
  return hn::AllFalse(d, hn::Or(hn::Gt(rows[0], limit), hn::Lt(rows[0], low_limit)));
}

// Rows of samples around zero to bytes around 128.
HWY_INLINE void StoreRows(const V16 (&rows)[8], uint8_t* out, ptrdiff_t stride) {
  const D16 d;
  const hn::Rebind<uint8_t, D16> bytes;
  const V16 middle = hn::Set(d, static_cast<int16_t>(128));
  for (int i = 0; i < 8; ++i) {
    hn::StoreU(hn::DemoteTo(bytes, hn::SaturatedAdd(rows[i], middle)), bytes, out + i * stride);
  }
}

template <bool kQuarter>
HWY_INLINE bool Transform(int16_t* values, const int16_t* divisors, uint8_t* out,
                          ptrdiff_t stride) {
  const D16 d;
  bool plain = true;
  for (int lane = 0; lane < kGroupRow; lane += static_cast<int>(hn::Lanes(d))) {
    V16 rows[8];
    plain &= LoadRows < kQuarter ? 4 : 8 > (values + lane, divisors, rows);
    Pass<kFirstShift, kQuarter>(rows);
    Transpose(rows);
    Pass<kSecondShift, kQuarter>(rows);
    Transpose(rows);
    StoreRows(rows, out + lane, stride);
  }
  return plain;
}

bool InverseDctVectors(int16_t* values, const int16_t* divisors, int last_place, uint8_t* out,
                       ptrdiff_t stride) {
  return last_place <= kLastOfQuarter ? Transform<true>(values, divisors, out, stride)
                                      : Transform<false>(values, divisors, out, stride);
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg_baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg_baseline {
namespace {

HWY_EXPORT(InverseDctVectors);

int16_t Wrapped(int64_t v) { return static_cast<int16_t>(v); }
int16_t Saturated(int v) { return static_cast<int16_t>(std::clamp(v, -32768, 32767)); }

// One column or row, in place.
void PassReference(std::array<int16_t, kBlockSize>& lane, int shift) {
  std::array<int64_t, kBlockSize> v;  // sums are of 32 bits and wrap, in the end
  std::ranges::copy(lane, v.begin());
  const int64_t rounding = 1 << (shift - 1);
  const int64_t tmp0 = Wrapped(v[0] + v[4]) * (1 << kConstantBits) + rounding;
  const int64_t tmp1 = Wrapped(v[0] - v[4]) * (1 << kConstantBits) + rounding;
  const int64_t tmp3 = v[2] * (k0_541 + k0_765) + v[6] * k0_541;
  const int64_t tmp2 = v[2] * k0_541 + v[6] * (k0_541 - k1_847);
  const std::array even = {tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3};
  const int64_t a = Wrapped(v[7] + v[3]);
  const int64_t b = Wrapped(v[5] + v[1]);
  const int64_t z3 = a * (k1_175 - k1_961) + b * k1_175;
  const int64_t z4 = a * k1_175 + b * (k1_175 - k0_390);
  const std::array odd = {v[7] * -k0_899 + v[1] * (k1_501 - k0_899) + z4,
                          v[5] * -k2_562 + v[3] * (k3_072 - k2_562) + z3,
                          v[5] * (k2_053 - k2_562) + v[3] * -k2_562 + z4,
                          v[7] * (k0_298 - k0_899) + v[1] * -k0_899 + z3};
  for (size_t i = 0; i < 4; ++i) {
    lane[i] = Saturated(static_cast<int32_t>(even[i] + odd[i]) >> shift);
    lane[7 - i] = Saturated(static_cast<int32_t>(even[i] - odd[i]) >> shift);
  }
}

void TransposeReference(std::array<std::array<int16_t, kBlockSize>, kBlockSize>& block) {
  for (size_t i = 0; i < kBlockSize; ++i) {
    for (size_t j = 0; j < i; ++j) std::swap(block[i][j], block[j][i]);
  }
}

}  // namespace

bool InverseDctGroup(int16_t* values, const int16_t* divisors, int last_place, uint8_t* out,
                     ptrdiff_t stride) {
  return HWY_DYNAMIC_DISPATCH(InverseDctVectors)(values, divisors, last_place, out, stride);
}

bool InverseDctGroupReference(int16_t* values, const int16_t* divisors, int /*last_place*/,
                              uint8_t* out, ptrdiff_t stride) {
  bool plain = true;
  for (int b = 0; b < kGroupBlocks; ++b) {
    std::array<std::array<int16_t, kBlockSize>, kBlockSize> block;
    for (int i = 0; i < kBlockValues; ++i) {
      int16_t& value = values[i / kBlockSize * kGroupRow + b * kBlockSize + i % kBlockSize];
      block[i % kBlockSize][i / kBlockSize] = Wrapped(value * divisors[i]);  // columns
      value = 0;
    }
    for (auto& column : block) plain &= column[0] >= -kPlainLimit && column[0] < kPlainLimit;
    for (auto& column : block) PassReference(column, kFirstShift);
    TransposeReference(block);
    for (auto& row : block) PassReference(row, kSecondShift);
    for (int y = 0; y < kBlockSize; ++y) {
      for (int x = 0; x < kBlockSize; ++x) {
        out[y * stride + b * kBlockSize + x] =
            static_cast<uint8_t>(std::clamp(block[y][x] + 128, 0, 255));
      }
    }
  }
  return plain;
}

}  // namespace stoker::jpeg_baseline
#endif  // HWY_ONCE
