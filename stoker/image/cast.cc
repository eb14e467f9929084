#include "stoker/image/cast.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace stoker {
namespace {

// How values lie in memory where C++ has no type for them, or none that is safe to load from
// foreign bytes.
struct Bool {
  uint8_t byte;  // true if not zero
};
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// Rounding twice, by way of float, can differ from rounding once. It does not where the first
// rounding is to odd: an inexact result gets its last bit set, so it is never a tie of the second
// (Boldo and Melquiond, "When double rounding is odd", 2005).
float ToFloatRoundingToOdd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
    --bits;  // back to the one nearer to zero
  return std::bit_cast<float>(bits | 1);
}

double ToDoubleRoundingToOdd(int64_t value) {
  const uint64_t magnitude =
      value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (magnitude >> 53 == 0) return static_cast<double>(value);
  const uint64_t odd = (magnitude & ~uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800 : 0);
  return value < 0 ? -static_cast<double>(odd) : static_cast<double>(odd);
}

// What a stored value is computed with.
template <typename T>
T Load(T value) {
  return value;
}
bool Load(Bool value) { return value.byte != 0; }
float Load(Float16 value) { return Float16ToFloat(value.bits); }
float Load(BFloat16 value) { return BFloat16ToFloat(value.bits); }

template <typename Integer, typename Float>
Integer ClampToInteger(Float value) {
  using Limits = std::numeric_limits<Integer>;
  constexpr Float kLow = static_cast<Float>(Limits::min());  // exact: zero or a power of two
  // The first power of two beyond the range; the maximum itself may not be a Float.
  constexpr Float kBeyond = static_cast<Float>(uint64_t{1} << (Limits::digits - 1)) * 2;
  if (!(value > kLow)) return std::isnan(value) ? Integer{0} : Limits::min();
  return value < kBeyond ? static_cast<Integer>(value) : Limits::max();
}

template <typename From>
float ToFloatForHalf(From value) {
  if constexpr (std::is_same_v<From, int64_t>) {
    return ToFloatRoundingToOdd(ToDoubleRoundingToOdd(value));
  } else if constexpr (std::is_same_v<From, double> || std::is_same_v<From, int32_t>) {
    return ToFloatRoundingToOdd(static_cast<double>(value));
  } else {
    return static_cast<float>(value);
  }
}

template <typename To, typename From>
To Convert(From value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != From{0})};
  } else if constexpr (std::is_same_v<To, Float16>) {
    return Float16{FloatToFloat16(ToFloatForHalf(value))};
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16{FloatToBFloat16(ToFloatForHalf(value))};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return ClampToInteger<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
void CastAll(const std::byte* in, size_t n, std::byte* out) {
  const From* from = reinterpret_cast<const From*>(in);
  To* to = reinterpret_cast<To*>(out);
  for (size_t i = 0; i < n; ++i) to[i] = Convert<To>(Load(from[i]));
}

template <typename T>
struct Stored {
  using Type = T;
};

// Calls `visit` with the Stored type of a dtype.
template <typename Visit>
void WithStoredType(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kBool: return visit(Stored<Bool>());
    case DType::kUInt8: return visit(Stored<uint8_t>());
    case DType::kInt8: return visit(Stored<int8_t>());
    case DType::kInt16: return visit(Stored<int16_t>());
    case DType::kInt32: return visit(Stored<int32_t>());
    case DType::kInt64: return visit(Stored<int64_t>());
    case DType::kFloat16: return visit(Stored<Float16>());
    case DType::kBFloat16: return visit(Stored<BFloat16>());
    case DType::kFloat32: return visit(Stored<float>());
    case DType::kFloat64: return visit(Stored<double>());
  }
}

}  // namespace

void CastValues(DType from, const std::byte* in, size_t n, DType to, std::byte* out) {
  WithStoredType(from, [&](auto from_type) {
    WithStoredType(to, [&](auto to_type) {
      CastAll<typename decltype(from_type)::Type, typename decltype(to_type)::Type>(in, n, out);
    });
  });
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);  // stays a NaN, made quiet
  const uint32_t to_even = bits >> 16 & 1;
  return static_cast<uint16_t>((bits + 0x7fff + to_even) >> 16);
}

// binary16 has 5 bits of exponent (bias 15) and 10 of fraction; binary32 has 8 (bias 127) and 23.
float Float16ToFloat(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {  // zero and subnormals: multiples of 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  const uint32_t wide_exponent = exponent == 0x1f ? 0xff : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

uint16_t FloatToFloat16(float value) {
  constexpr uint32_t kInfinity = 0x7c00;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | kInfinity | 0x200 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= std::bit_cast<uint32_t>(65520.0f))
    return static_cast<uint16_t>(sign | kInfinity);
  if (magnitude < std::bit_cast<uint32_t>(0x1p-14f)) {
    // Subnormal: adding 0.5, whose last bit is worth 2^-24, lets the addition round to a multiple
    // of that.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)));
  }
  const uint32_t to_even = magnitude >> 13 & 1;
  const uint32_t rebiased = magnitude - (uint32_t{127 - 15} << 23);
  return static_cast<uint16_t>(sign | (rebiased + 0xfff + to_even) >> 13);
}

}  // namespace stoker
