// The inverse DCT, in the integers of libjpeg's default ("islow"): Loeffler, Ligtenberg and
// Moschytz, "Practical fast 1-D DCT algorithms with 11 multiplications" (ICASSP 1989), with
// constants of 13 bits and two more bits between the passes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::jpeg_baseline {

// Multiplies the four blocks of a group (entropy_decoder.h) by their divisors, transforms them and
// sets the group's values to zero.
//   values      [8][4 * 8] coefficients, aligned to 64 bytes
//   divisors    [8][8], aligned to 16 bytes
//   last_place  the last place of the zigzag with a value in any block; smaller is faster
//   out         the upper left of four adjacent blocks of 8x8 samples: 32 bytes in each of 8 rows
//   stride      bytes from one row to the next
// Returns whether the bytes are those of libjpeg's default on any CPU. If dequantised values are
// far outside the range of real pictures, libjpeg's own versions differ and its result is
// undefined; such a block is a sign of damage. The same bytes on every CPU. Threads: concurrent
// calls are safe.
bool InverseDctGroup(int16_t* values, const int16_t* divisors, int last_place, uint8_t* out,
                     ptrdiff_t stride);
bool InverseDctGroupReference(int16_t* values, const int16_t* divisors, int last_place,
                              uint8_t* out, ptrdiff_t stride);

}  // namespace stoker::jpeg_baseline
