// The interface between decode.cc and the formats, and helpers of the formats. Not for use
// elsewhere.
#pragma once

#include "stoker/image/decode.h"

namespace stoker {

// A file, as passed between functions.
struct EncodedImage {
  std::span<const std::byte> bytes;
  std::string_view name;  // for messages
};

// A format reads a header and decodes regions in the coordinates of the stored picture; decode.cc
// checks the region and turns it. `Probe...` returns height and width as stored, and the
// orientation.
using ProbeFunction = Result<ImageInfo>(const EncodedImage& image, const DecodeOptions& options);
using DecodeFunction = Status(const EncodedImage& image, const ImageInfo& info,
                              const ImageRegion& region, const DecodeOptions& options,
                              const PixelRows& out, DecodeScratch& scratch);

// Refuses more pixels than the limits allow. Both extents are below 2^31.
Status CheckPixels(std::string_view name, int64_t width, int64_t height, const ImageLimits& limits);

// Refuses a picture that differs from `info`, such as a file that was overwritten meanwhile,
// because the region was checked against `info`.
Status CheckIsAsProbed(std::string_view name, const ImageInfo& info, int64_t width, int64_t height);

// Returns kCancelled: the thread was asked to stop while the picture was decoded (StopScope).
Status DecodingStopped(std::string_view name);

// Returns 1 or 3, by the options and whether the picture is stored grey.
int DeliveredChannels(const DecodeOptions& options, bool stored_grey);

// The layout of a row of pixels.
enum class PixelLayout : uint8_t {
  kGrey,          // Y
  kRgb,           // R G B
  kRgba,          // R G B A
  kCmyk,          // C M Y K, 255 is full ink
  kInvertedCmyk,  // the same, 0 is full ink, as Adobe's programs write JPEGs
};
int BytesPerPixel(PixelLayout layout);

// Makes n pixels of 1 or 3 channels from a row.
//   in          n pixels of this layout
//   background  the colour under RGBA: round((colour * alpha + background * (255 - alpha)) / 255);
//               without one, alpha is dropped
//   channels    1: round(0.299 R + 0.587 G + 0.114 B) in 16-bit fractions, of the result for 3
//   out         n * channels bytes; must not overlap `in`
void ConvertPixels(PixelLayout layout, const uint8_t* in, size_t n,
                   const std::optional<std::array<uint8_t, 3>>& background, int channels,
                   uint8_t* out);

}  // namespace stoker
