// Conversion of values from one dtype to another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/base/dtype.h"

namespace stoker {

// Converts n values like C++'s static_cast, but also defined where that is not, and the same on
// every CPU:
//   * to a wider type: exact wherever the wider type holds the value;
//   * integer to narrower integer: the low bits (300 becomes uint8 44);
//   * float to integer: truncated towards zero, clamped to what the integer holds; NaN becomes 0;
//   * anything to a narrower float: the nearest value, ties to even, rounded once; infinity beyond;
//   * anything to bool: whether it differs from zero (NaN does); bool to anything: 0 or 1.
//   in   n values of dtype `from`, aligned to their size
//   out  n values of dtype `to`, aligned to their size; must not overlap `in`
// Threads: concurrent calls are safe.
void CastValues(DType from, const std::byte* in, size_t n, DType to, std::byte* out);

// Convert the bits of the two 16-bit floats: binary16 of IEEE 754, and bfloat16, the upper half of
// binary32.
float Float16ToFloat(uint16_t bits);
uint16_t FloatToFloat16(float value);
float BFloat16ToFloat(uint16_t bits);
uint16_t FloatToBFloat16(float value);

}  // namespace stoker
