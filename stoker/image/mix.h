// Weighted means of two images, for mixup.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

// The weight of the first image of bytes in 65536ths, 0..65536; the second has the rest. Bytes are
// mixed in integers.
inline constexpr uint32_t kWholeMixWeight = 1 << 16;

// Computes the weighted mean of a[i] and b[i] for each i. Bytes are rounded to nearest, halves up;
// of floats the second weight (1 - share), the two products and the sum are rounded once each. The
// same bits on every CPU.
//   a, b   n values, aligned to their size
//   share  the weight of a, 0..1
//   out    n values; may be `a` or `b` itself, otherwise it must not overlap
// Threads: concurrent calls are safe. Infinities and NaNs follow IEEE 754.
void MixValues(const uint8_t* a, const uint8_t* b, size_t n, uint32_t weight, uint8_t* out);
void MixValues(const float* a, const float* b, size_t n, float share, float* out);

}  // namespace stoker
