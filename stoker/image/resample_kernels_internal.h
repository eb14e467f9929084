// The steps of a resize, each for rows, with vector instructions, and their plain twins.
//
// They process pixels in blocks of 16 bytes: two neighbouring pixels of four channels, 16 bits a
// value, the two values of a channel adjacent [r0 r1 g0 g1 b0 b1 x0 x1]. One multiply-add
// instruction multiplies such values by a pair of weights and adds the two products. A vector of
// several blocks works on as many rows at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/image/resample_weights_internal.h"

namespace stoker {

// The fraction bits of values between the passes.
inline constexpr int kMiddleBits = 6;
inline constexpr int16_t kMiddleMax = 255 << kMiddleBits;
// Returns the largest value of a result: between the passes, or of pixels.
template <typename Out>
constexpr int16_t MaxOf() {
  return sizeof(Out) == 1 ? int16_t{255} : kMiddleMax;
}
// Whole vectors are loaded, so this many values after a row must be readable, of any content.
inline constexpr int64_t kRowSlack = 64;
inline constexpr int64_t kBlockValues = 8;

// out[i] = in[i] << kMiddleBits.
void WidenRow(const uint8_t* in, size_t n, int16_t* out);

// out[i] = the sum of rows[t][i] * weights[t] over 2 * pairs rows, shifted right by `shift`,
// rounded to nearest, halves up, and clamped to the range of `out`: 0..kMiddleMax, or 0..255.
//   rows  rows of weight 0 may be any n readable values
void CombineRows(const uint8_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                 int shift, int16_t* out);
void CombineRows(const int16_t* const* rows, const int16_t* weights, int64_t pairs, size_t n,
                 int shift, uint8_t* out);
void CombineRowsReference(const uint8_t* const* rows, const int16_t* weights, int64_t pairs,
                          size_t n, int shift, int16_t* out);
void CombineRowsReference(const int16_t* const* rows, const int16_t* weights, int64_t pairs,
                          size_t n, int shift, uint8_t* out);

// Returns the blocks in a vector, the number of rows that CombineColumns takes: 1, 2 or 4.
int64_t BlocksInVector();

// Converts a row to `blocks` blocks, one every `block_stride` values. Missing channels repeat
// others.
//   row     interleaved pixels of 2, 3 or 4 channels, or `channels` planes `plane_stride` apart;
//           kRowSlack values after its end may be read
void PairInterleaved(const int16_t* row, int64_t channels, int64_t blocks, int64_t block_stride,
                     int16_t* out);
void PairPlanes(const int16_t* row, int64_t plane_stride, int64_t channels, int64_t blocks,
                int64_t block_stride, int16_t* out);
void PairInterleavedReference(const int16_t* row, int64_t channels, int64_t blocks,
                              int64_t block_stride, int16_t* out);
void PairPlanesReference(const int16_t* row, int64_t plane_stride, int64_t channels, int64_t blocks,
                         int64_t block_stride, int16_t* out);

// Computes pixel x of row r as the sum over the weights' taps, as above.
//   blocks  of BlocksInVector() rows: block i of row r is number i * BlocksInVector() + r
//   width   results; rows are written up to the next multiple of four
//   rows    BlocksInVector() rows of pixels
void CombineColumns(const int16_t* blocks, const AxisWeights& weights, int64_t width, int shift,
                    uint8_t* const* rows);
void CombineColumns(const int16_t* blocks, const AxisWeights& weights, int64_t width, int shift,
                    int16_t* const* rows);
// The plain twin for one row of consecutive blocks.
void CombineColumnsReference(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                             int shift, uint8_t* row);
void CombineColumnsReference(const int16_t* blocks, const AxisWeights& weights, int64_t width,
                             int shift, int16_t* row);

}  // namespace stoker
