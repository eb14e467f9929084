// Antialiased resizing of pictures: a box of a picture, made larger or smaller by a separable
// filter, as Pillow (Image.resize with box) and torchvision (antialias=True) do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/image/pixel_view.h"

namespace stoker {

// All except kNearest are stretched by the scale if the result is smaller than the box, so that
// every pixel of the source counts.
enum class ResampleFilter : uint8_t {
  kNearest,   // the pixel that contains the result's centre (torch's nearest-exact)
  kBox,       // Pillow's: the mean of the pixels whose centres it covers
  kArea,      // the mean over the covered area, parts of pixels by their share (OpenCV's)
  kBilinear,  // a triangle
  kBicubic,   // Keys' with a = -1/2, as Pillow's and torch's with antialias; OpenCV has -3/4
  kLanczos3   // sinc in a window of sinc, three lobes
};

// Returns "nearest", "box", "area", "bilinear", "bicubic", "lanczos"; the error lists them.
std::string_view ResampleFilterName(ResampleFilter filter);
Result<ResampleFilter> ParseResampleFilter(std::string_view name);

// The part of the source that the result shows, in pixels, whole or not. Like Pillow's box it does
// not limit filters, which read beyond its edges into the source. For crop-then-resize pass the
// crop as the source and ResampleBox::Whole.
struct ResampleBox {
  double y = 0;
  double x = 0;
  double height = 0;
  double width = 0;

  static ResampleBox Whole(const PixelView& source) {
    return {.height = static_cast<double>(source.height),
            .width = static_cast<double>(source.width)};
  }
};

struct ResampleSize {
  int64_t height = 0;
  int64_t width = 0;
};

// Tables and rows that calls reuse, so that a call allocates only if it needs more than all before.
// The table of weights is computed again only if box or sizes change. Not thread-safe: one for each
// thread.
class ResampleScratch {
 public:
  ResampleScratch();
  ~ResampleScratch();
  ResampleScratch(ResampleScratch&&) noexcept;
  ResampleScratch& operator=(ResampleScratch&&) noexcept;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Receives the rows of a result in order, each while it is in the cache.
class RowReceiver {
 public:
  virtual ~RowReceiver() = default;
  // `pixels`: a row of the result, kPixelBytes each; valid during the call only, and followed by at
  // least 64 readable bytes.
  virtual void Take(int64_t y, const uint8_t* pixels) = 0;
};

// The most pixels of a result: 805 MB of bytes in colour, and four times as much of floats.
inline constexpr int64_t kMostResizedPixels = int64_t{1} << 28;

// Checks the requirements of Resample; InvalidArgument messages begin with `who`: 1 to 4 channels,
// source and result of at least one pixel and at most 2^24 a side, a result of at most
// kMostResizedPixels, a box within the source.
Status CheckResample(std::string_view who, const PixelView& source, const ResampleBox& box,
                     const ResampleSize& size);

// Returns the most memory that the tables of weights of such a resize take, a few bytes for each
// pixel of the longer side, for callers that reserve memory first.
//   height, width  of the source
int64_t ResampleTableBytes(int64_t height, int64_t width, const ResampleBox& box,
                           ResampleFilter filter, const ResampleSize& size);

// Resizes. Integer arithmetic, so the same bytes on every CPU: weights of 14 to 16 bits, six bits
// of fraction between the two passes; within one level of Pillow's result and torchvision's. If the
// filter overshoots (bicubic, Lanczos), values are clamped to 0..255 after either pass, so the
// order of the passes affects the result: along rows first, as in torchvision and in Pillow before
// 13 (which begins with columns if a picture becomes wider and lower).
//   source  borrowed for the call
//   box     REQUIRES: what CheckResample checks
//   rows    receives `size.height` rows of `size.width` pixels
// Returns false if the thread was asked to stop (StopScope, checked every few milliseconds) before
// all rows were made; so do all functions below. Threads: concurrent calls with different scratch
// are safe.
bool Resample(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
              const ResampleSize& size, ResampleScratch& scratch, RowReceiver& rows);

// The plain twin: the reference in tests of Resample.
void ResampleReference(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
                       const ResampleSize& size, RowReceiver& rows);

// Passes the rows of `source` to `rows` unchanged, in RowReceiver's pixels.
bool CopyRows(const PixelView& source, ResampleScratch& scratch, RowReceiver& rows);

// Resizes one plane of floats with unrounded weights; sums are rounded to float in the order of the
// taps, rows first. The same bits on every CPU.
//   in   height rows of width values, row_stride values from one to the next
//   out  size.height * size.width values, no overlap
bool ResampleFloats(const float* in, int64_t height, int64_t width, int64_t row_stride,
                    const ResampleBox& box, ResampleFilter filter, const ResampleSize& size,
                    ResampleScratch& scratch, float* out);

// Resizes by nearest neighbour, for values of any type, such as masks.
//   value_size  1, 2, 4 or 8 bytes
//   in, out     one plane each, without gaps; they must not overlap
bool ResampleNearest(const std::byte* in, int64_t height, int64_t width, size_t value_size,
                     const ResampleBox& box, const ResampleSize& size, std::byte* out);

// The same for pixels of bytes, given only the box of a picture; passes the rows of the result to
// `rows`.
//   box   pixels from row `y` and column `x` of the picture on
bool ResampleNearest(const PixelView& box, int64_t y, int64_t x, const ResampleSize& size,
                     ResampleScratch& scratch, RowReceiver& rows);

}  // namespace stoker
