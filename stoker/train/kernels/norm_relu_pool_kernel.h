// The pixel loops of NormReluPool (norm_relu_pool.h): one image, one thread.
//
// Layout: x is one image in channels-last order, float [height, width, channels]. The pooled image
// is float [height / 2, width / 2, channels]; a last odd row or column of x belongs to no window of
// 2 x 2. Every array of constants has `channels` entries. Nothing needs alignment; nothing overlaps
// unless said. Concurrent calls are safe. Products and sums are rounded one by one (never fused),
// so everything except the sums has the same bits on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

struct ImageExtent {
  size_t height = 0;
  size_t width = 0;
  size_t channels = 0;

  size_t pixels() const { return height * width; }
  size_t windows() const { return (height / 2) * (width / 2); }
};

// Which of a window's four pixels, row by row, was the largest; or kNothingPassed if it was not
// positive, so that ReLU makes it zero and its gradient is zero.
using PoolChoice = uint8_t;
inline constexpr PoolChoice kNothingPassed = 4;

// Adds the sum over all pixels of x - origin to `sum`, and that of its square to `squares`. An
// origin near the mean keeps the variance computed from both exact.
void AddMoments(const float* x, const ImageExtent& extent, const float* origin, double* sum,
                double* squares);

// pooled = max(0, the largest of the four x * scale + shift). The first of equal values counts, and
// a NaN is larger than any number, as in torch. `peak` and `choice`, windows() * channels entries,
// receive the largest x and its place; both may be null if no gradient is wanted.
void PoolForward(const float* x, const ImageExtent& extent, const float* scale, const float* shift,
                 float* pooled, float* peak, PoolChoice* choice);

// Adds the sum of `grad` over all windows with a choice to `sum`, and that of grad * (peak - mean)
// to `products`.
void AddGradientSums(const float* grad, const float* peak, const PoolChoice* choice,
                     const ImageExtent& extent, const float* mean, double* sum, double* products);

// dx = a * g + (b * x + c), where g is the window's `grad` for the chosen pixel, and zero for all
// others.
void PoolBackward(const float* x, const float* grad, const PoolChoice* choice,
                  const ImageExtent& extent, const float* a, const float* b, const float* c,
                  float* dx);

// The plain twins: the references in tests of the above, and their loops for the last few channels.
//   first  channels before this one are not processed
void AddMomentsReference(const float* x, const ImageExtent& extent, size_t first,
                         const float* origin, double* sum, double* squares);
void PoolForwardReference(const float* x, const ImageExtent& extent, size_t first,
                          const float* scale, const float* shift, float* pooled, float* peak,
                          PoolChoice* choice);
void AddGradientSumsReference(const float* grad, const float* peak, const PoolChoice* choice,
                              const ImageExtent& extent, size_t first, const float* mean,
                              double* sum, double* products);
void PoolBackwardReference(const float* x, const float* grad, const PoolChoice* choice,
                           const ImageExtent& extent, size_t first, const float* a, const float* b,
                           const float* c, float* dx);

}  // namespace stoker
