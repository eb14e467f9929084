#include "stoker/image/jpeg_baseline/scaled_inverse_dct.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/image/jpeg_baseline/dct_targets.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/jpeg_baseline/scaled_inverse_dct.cc"  // NOLINT
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "stoker/image/jpeg_baseline/dct_vectors-inl.h"

#ifndef STOKER_IMAGE_JPEG_BASELINE_SCALED_INVERSE_DCT_ONCE
#define STOKER_IMAGE_JPEG_BASELINE_SCALED_INVERSE_DCT_ONCE
namespace stoker::jpeg_baseline {

// In units of 2^-13.
inline constexpr int k0_211 = 1730;
inline constexpr int k0_509 = 4176;
inline constexpr int k0_601 = 4926;
inline constexpr int k0_720 = 5906;
inline constexpr int k0_765 = 6270;
inline constexpr int k0_850 = 6967;
inline constexpr int k0_899 = 7373;
inline constexpr int k1_061 = 8697;
inline constexpr int k1_272 = 10426;
inline constexpr int k1_451 = 11893;
inline constexpr int k1_847 = 15137;
inline constexpr int k2_172 = 17799;
inline constexpr int k2_562 = 20995;
inline constexpr int k3_624 = 29692;

// A mean of two is their sum, with a bit more to be shifted out; one of four with two.
constexpr int DcBits(int size) { return kConstantBits + (size == 4 ? 1 : 2); }
constexpr int FirstShift(int size) { return DcBits(size) - kPassBits; }
constexpr int SecondShift(int size) { return DcBits(size) + kPassBits + 3; }

// For larger values, libjpeg's vector versions truncate to 16 bits between the passes, and those
// without vectors do not. No encoder's rounding gets that far from what samples of 8 bits have,
// 1024 at most.
inline constexpr int kScaledPlainLimit = 1536;
// Samples around zero of which its versions without vectors see no more than the lowest 10 bits.
inline constexpr int kSampleLimit = 512;

}  // namespace stoker::jpeg_baseline
#endif  // STOKER_IMAGE_JPEG_BASELINE_SCALED_INVERSE_DCT_ONCE

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg_baseline {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

bool ScaledInverseDctVectors(int16_t* values, const int16_t* divisors, int size, uint8_t* out,
                             ptrdiff_t stride) {
  return ScaledInverseDctGroupReference(values, divisors, size, out, stride);
}

#else

// One pass over all lanes: rows[i] holds the i-th value of each lane's column, afterwards its i-th
// sample, with zeros after the last one.
template <int kSize, int kShift>
STOKER_PASS void ScaledPass(V16 (&rows)[8]) {
  const Wide dc = Scaled<kShift, DcBits(kSize)>(rows[0]);
  const Pairs p75 = PairUp(rows[7], rows[5]);
  const Pairs p31 = PairUp(rows[3], rows[1]);
  if constexpr (kSize == 4) {
    const Wide even = Products(PairUp(rows[2], rows[6]), k1_847, -k0_765);
    const Wide outer = Products(p75, -k0_509, -k0_601) + Products(p31, k0_899, k2_562);
    const Wide inner = Products(p75, -k0_211, k1_451) + Products(p31, -k2_172, k1_061);
    rows[0] = Narrowed<kShift>(dc + even + outer);
    rows[1] = Narrowed<kShift>(dc - even + inner);
    rows[2] = Narrowed<kShift>(dc - even - inner);
    rows[3] = Narrowed<kShift>(dc + even - outer);
  } else {
    const Wide odd = Products(p75, -k0_720, k0_850) + Products(p31, -k1_272, k3_624);
    rows[0] = Narrowed<kShift>(dc + odd);
    rows[1] = Narrowed<kShift>(dc - odd);
  }
  for (int i = kSize; i < 8; ++i) rows[i] = hn::Zero(D16());
}

// Whether all values are in [-limit, limit).
template <int kRows>
HWY_INLINE bool AllWithin(const V16 (&rows)[8], int limit) {
  const D16 d;
  V16 least = rows[0], most = rows[0];
  for (int i = 1; i < kRows; ++i) {
    least = hn::Min(least, rows[i]);
    most = hn::Max(most, rows[i]);
  }
  const V16 last = hn::Set(d, static_cast<int16_t>(limit - 1));
  const V16 first = hn::Set(d, static_cast<int16_t>(-limit));
  return hn::AllFalse(d, hn::Or(hn::Lt(least, first), hn::Gt(most, last)));
}

// Samples around zero to bytes around 128. Of each part, the first kSize are stored.
template <int kSize>
HWY_INLINE void StoreBlocks(const V16 (&rows)[8], uint8_t* out, ptrdiff_t stride) {
  const D16 d;
  const hn::Rebind<uint8_t, D16> bytes;
  const V16 middle = hn::Set(d, static_cast<int16_t>(128));
  for (int i = 0; i < kSize; ++i) {
    alignas(64) std::array<uint8_t, kGroupRow> row;
    hn::Store(hn::DemoteTo(bytes, hn::SaturatedAdd(rows[i], middle)), bytes, row.data());
    for (size_t b = 0; b < hn::Lanes(d) / kBlockSize; ++b) {
      std::memcpy(out + i * stride + b * kSize, row.data() + b * kBlockSize, kSize);
    }
  }
}

template <int kSize>
HWY_INLINE bool ScaledTransform(int16_t* values, const int16_t* divisors, uint8_t* out,
                                ptrdiff_t stride) {
  const D16 d;
  bool plain = true;
  for (int lane = 0; lane < kGroupRow; lane += static_cast<int>(hn::Lanes(d))) {
    V16 rows[8];
    for (int i = 0; i < 8; ++i) {
      int16_t* from = values + lane + i * kGroupRow;
      rows[i] = hn::Mul(hn::Load(d, from), hn::LoadDup128(d, divisors + i * kBlockSize));
      hn::Store(hn::Zero(d), d, from);
    }
    plain &= AllWithin<8>(rows, kScaledPlainLimit);
    ScaledPass<kSize, FirstShift(kSize)>(rows);
    Transpose(rows);
    ScaledPass<kSize, SecondShift(kSize)>(rows);
    plain &= AllWithin<kSize>(rows, kSampleLimit);
    Transpose(rows);
    StoreBlocks<kSize>(rows, out + lane / kBlockSize * kSize, stride);
  }
  return plain;
}

bool ScaledInverseDctVectors(int16_t* values, const int16_t* divisors, int size, uint8_t* out,
                             ptrdiff_t stride) {
  if (size == 1) return ScaledInverseDctGroupReference(values, divisors, size, out, stride);
  return size == 2 ? ScaledTransform<2>(values, divisors, out, stride)
                   : ScaledTransform<4>(values, divisors, out, stride);
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg_baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg_baseline {
namespace {

HWY_EXPORT(ScaledInverseDctVectors);

using Lane = std::array<int16_t, kBlockSize>;

int16_t Wrapped(int v) { return static_cast<int16_t>(v); }
int16_t Saturated(int v) { return static_cast<int16_t>(std::clamp(v, -32768, 32767)); }
bool IsWithin(int v, int limit) { return v >= -limit && v < limit; }

// Samples of one column or row from its eight values, followed by zeros.
Lane PassReference(const Lane& v, int size, int shift) {
  // Sums are of 32 bits and wrap, in the end.
  const int64_t dc = int64_t{v[0]} * (1 << DcBits(size)) + (1 << (shift - 1));
  std::array<int64_t, 4> sums;
  if (size == 4) {
    const int64_t even = int64_t{v[2]} * k1_847 - int64_t{v[6]} * k0_765;
    const int64_t outer = int64_t{v[1]} * k2_562 + int64_t{v[3]} * k0_899 - int64_t{v[5]} * k0_601 -
                          int64_t{v[7]} * k0_509;
    const int64_t inner = int64_t{v[1]} * k1_061 - int64_t{v[3]} * k2_172 + int64_t{v[5]} * k1_451 -
                          int64_t{v[7]} * k0_211;
    sums = {dc + even + outer, dc - even + inner, dc - even - inner, dc + even - outer};
  } else {
    const int64_t odd = int64_t{v[1]} * k3_624 - int64_t{v[3]} * k1_272 + int64_t{v[5]} * k0_850 -
                        int64_t{v[7]} * k0_720;
    sums = {dc + odd, dc - odd};
  }
  Lane samples{};
  for (int i = 0; i < size; ++i) samples[i] = Saturated(static_cast<int32_t>(sums[i]) >> shift);
  return samples;
}

// One block of 2 x 2 or 4 x 4 samples around zero: rows of columns.
std::array<Lane, 4> TransformReference(const std::array<Lane, kBlockSize>& columns, int size) {
  std::array<Lane, kBlockSize> passed;
  for (size_t x = 0; x < columns.size(); ++x) {
    passed[x] = PassReference(columns[x], size, FirstShift(size));
  }
  std::array<Lane, 4> rows;
  for (int y = 0; y < size; ++y) {
    Lane row;
    for (size_t x = 0; x < row.size(); ++x) row[x] = passed[x][y];
    rows[y] = PassReference(row, size, SecondShift(size));
  }
  return rows;
}

// The value of one sample is an eighth of the block's first.
bool PutFirstValues(int16_t* values, int divisor, uint8_t* out) {
  bool plain = true;
  for (int b = 0; b < kGroupBlocks; ++b) {
    const int value = Wrapped(values[b * kBlockSize] * divisor);
    plain &= IsWithin(value, kScaledPlainLimit);
    out[b] = static_cast<uint8_t>(std::clamp(128 + ((value + 4) >> 3), 0, 255));
    values[b * kBlockSize] = 0;
  }
  return plain;
}

}  // namespace

bool ScaledInverseDctGroup(int16_t* values, const int16_t* divisors, int size, uint8_t* out,
                           ptrdiff_t stride) {
  return HWY_DYNAMIC_DISPATCH(ScaledInverseDctVectors)(values, divisors, size, out, stride);
}

bool ScaledInverseDctGroupReference(int16_t* values, const int16_t* divisors, int size,
                                    uint8_t* out, ptrdiff_t stride) {
  if (size == 1) return PutFirstValues(values, divisors[0], out);
  bool plain = true;
  for (int b = 0; b < kGroupBlocks; ++b) {
    std::array<Lane, kBlockSize> columns;
    for (int i = 0; i < kBlockValues; ++i) {
      int16_t& value = values[i / kBlockSize * kGroupRow + b * kBlockSize + i % kBlockSize];
      columns[i % kBlockSize][i / kBlockSize] = Wrapped(value * divisors[i]);
      plain &= IsWithin(Wrapped(value * divisors[i]), kScaledPlainLimit);
      value = 0;
    }
    const std::array<Lane, 4> rows = TransformReference(columns, size);
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        plain &= IsWithin(rows[y][x], kSampleLimit);
        out[y * stride + b * size + x] = static_cast<uint8_t>(std::clamp(rows[y][x] + 128, 0, 255));
      }
    }
  }
  return plain;
}

}  // namespace stoker::jpeg_baseline
#endif  // HWY_ONCE
