// What decode.cc asks of every format, and what formats share. Not for use elsewhere.
#pragma once

#include "stoker/image/decode.h"

namespace stoker {

// A file as it is handed from function to function.
struct EncodedImage {
  std::span<const std::byte> bytes;
  std::string_view name;  // for messages
};

// A format reads a header and decodes regions in the coordinates of the picture as it is stored:
// decode.cc has checked the region, and turns it. `Probe...` gives height and width as stored,
// and the orientation beside them.
using ProbeFunction = Result<ImageInfo>(const EncodedImage& image, const DecodeOptions& options);
using DecodeFunction = Status(const EncodedImage& image, const ImageInfo& info,
                              const ImageRegion& region, const DecodeOptions& options,
                              const PixelRows& out, DecodeScratch& scratch);

// Refuses more pixels than the limits allow. Both extents are below 2^31.
Status CheckPixels(std::string_view name, int64_t width, int64_t height, const ImageLimits& limits);

// Refuses what is not the picture that `info` came from, as a file that is written to while it is
// read: the region was checked against `info`.
Status CheckIsAsProbed(std::string_view name, const ImageInfo& info, int64_t width, int64_t height);

// kCancelled: the thread was asked to stop while the picture was decoded (StopScope).
Status DecodingStopped(std::string_view name);

// 1 or 3, as the options want them of a picture that is stored grey or not.
int DeliveredChannels(const DecodeOptions& options, bool stored_grey);

// What lies in a row of pixels.
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
//   background  what RGBA is laid over: round((colour * alpha + background * (255 - alpha)) / 255);
//               without one, alpha is dropped
//   channels    1: round(0.299 R + 0.587 G + 0.114 B) in 16-bit fractions, of what 3 would give
//   out         n * channels bytes; must not overlap `in`
void ConvertPixels(PixelLayout layout, const uint8_t* in, size_t n,
                   const std::optional<std::array<uint8_t, 3>>& background, int channels,
                   uint8_t* out);

}  // namespace stoker
