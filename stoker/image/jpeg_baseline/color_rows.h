// Converts rows of samples to a row of pixels: libjpeg's "fancy upsampling" (a triangle filter) and
// its conversion from YCbCr to RGB, with the same roundings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker::jpeg_baseline {

// Kernels may read so many bytes after the last value of every input row.
inline constexpr size_t kRowPadding = 128;  // bytes

// Converts samples to RGB; one of each kind for each pixel.
//   rgb  3 * n bytes
void ConvertRow(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n, uint8_t* rgb);
void ConvertRowReference(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, size_t n,
                         uint8_t* rgb);

// Converts to RGB with one Cb and Cr for two pixels of a row. A pixel takes 3/4 of the nearer one
// and 1/4 of the next nearest.
//   y       of pixels x, x + 1, ..., x + n - 1
//   cb, cr  sums made by WidenRow or SumRows: [i] belongs to pixels 2 * i and 2 * i + 1; read from
//           x / 2 - 1 to (x + n) / 2
//   summed  whether SumRows made them
void ConvertDoubledRow(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x, size_t n,
                       bool summed, uint8_t* rgb);
void ConvertDoubledRowReference(const uint8_t* y, const int16_t* cb, const int16_t* cr, size_t x,
                                size_t n, bool summed, uint8_t* rgb);

// out[i] = in[i].
void WidenRow(const uint8_t* in, size_t n, int16_t* out);

// out[i] = 3 * near[i] + far[i]: four times the value a quarter of the way to the row `far`.
// WidenRow and SumRows write up to kRowPadding bytes more.
void SumRows(const uint8_t* near, const uint8_t* far, size_t n, int16_t* out);
// The same, divided by four and rounded: halves up below `near`, down above it.
void BlendRows(const uint8_t* near, const uint8_t* far, bool below, size_t n, uint8_t* out);
void SumRowsReference(const uint8_t* near, const uint8_t* far, size_t n, int16_t* out);
void BlendRowsReference(const uint8_t* near, const uint8_t* far, bool below, size_t n,
                        uint8_t* out);

// Repeats each sample `times` times.
//   x    of the first pixel; in[0] belongs to pixel 0
//   out  n samples
void RepeatSamples(const uint8_t* in, size_t times, size_t x, size_t n, uint8_t* out);

}  // namespace stoker::jpeg_baseline
