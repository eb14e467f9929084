// Shifting and scaling of pixel values, the last step of most input pipelines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoker {

// y = (x - shift) * scale, in float32: the difference and the product are each rounded to nearest,
// never fused, so that every CPU gives the same bits.
struct ShiftScale {
  float shift = 0;
  float scale = 1;
};

// Normalises n values with the vector instructions of this CPU.
//   in   n values, any alignment
//   out  n values; for float input it may be `in` itself, otherwise it must not overlap
// Cost: as fast as memory takes the result for anything that does not fit into the caches.
// Threads: concurrent calls are safe. Infinities and NaNs follow IEEE 754.
void NormalizePlane(const uint8_t* in, size_t n, ShiftScale constants, float* out);
void NormalizePlane(const float* in, size_t n, ShiftScale constants, float* out);

// The plain twin: the reference in tests of NormalizePlane, and its loop for the last few values.
void NormalizePlaneReference(const uint8_t* in, size_t n, ShiftScale constants, float* out);
void NormalizePlaneReference(const float* in, size_t n, ShiftScale constants, float* out);

// Normalises consecutive images, each channel with its own constants.
//   in          num_images * channels.size() * plane_size values: image by image, and in each
//               channel by channel
//   plane_size  values in one channel of one image
//   channels    at least one
//   out         as many values as `in`; may be `in` itself for float input
void NormalizeImages(const uint8_t* in, size_t num_images, size_t plane_size,
                     std::span<const ShiftScale> channels, float* out);
void NormalizeImages(const float* in, size_t num_images, size_t plane_size,
                     std::span<const ShiftScale> channels, float* out);

}  // namespace stoker
