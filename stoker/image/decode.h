// Encoded pictures to pixels: JPEG, PNG, BMP, WebP and binary PNM with one interface. Probe a
// picture first (its header has its size), then decode any region of it.
//
// The rule: a region has the bytes that cropping the whole decoded picture would give, at every
// scale and orientation. So a pipeline may decode only the region that it needs without changing a
// result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/image/decode_scratch.h"
#include "stoker/image/image_shape.h"

namespace stoker {

enum class ImageFormat : uint8_t { kJpeg, kPng, kBmp, kWebp, kPnm };

// Returns "JPEG", "PNG", ...
std::string_view ImageFormatName(ImageFormat format);

// The channels of the result, independent of the file's.
enum class ImageChannels : uint8_t {
  kAsStored,  // 1 for grey pictures, else 3; CMYK becomes RGB, palettes are looked up
  // 1: the luma of ITU-R BT.601, as PIL's mode L; of a JPEG in YCbCr its Y, as it is stored
  kGrey,
  kRgb,  // 3: a grey picture has three equal channels
  // 1: the stored numbers of 1 to 8 bits of a PNG with a palette (the indices of its colours, as
  // PIL's mode P) or a grey PNG (not scaled to 255). For masks whose values are classes. Other
  // pictures are refused.
  kIndex,
  kIndex16,  // 1: the same of up to 16 bits, two bytes a value (uint16_t as the CPU has it)
};

struct DecodeOptions {
  ImageChannels channels = ImageChannels::kRgb;
  // Turns the picture upright, by the EXIF orientation of a JPEG, PNG or WebP.
  bool apply_orientation = true;
  // Transparent pixels are laid over this colour (R, G, B); without one, alpha is dropped.
  std::optional<std::array<uint8_t, 3>> background;
  // Makes libjpeg's warnings (damaged or missing entropy-coded data, extra bytes) errors. If false,
  // it invents pixels for damaged data and continues.
  bool jpeg_warnings_are_errors = true;
  ImageLimits limits;
};

// The header's content.
struct ImageInfo {
  ImageFormat format = ImageFormat::kPnm;
  int64_t height = 0;  // in pixels as delivered: of the upright picture if apply_orientation
  int64_t width = 0;
  int channels = 0;        // as delivered: 1 or 3
  int value_bytes = 1;     // of a value as delivered: 1, or 2 for kIndex16
  int bits = 8;            // of a stored sample (of a palette's index)
  bool alpha = false;      // the file has transparency
  int orientation = 1;     // 1..8 as in EXIF: how decoding turns the picture; 1 if it does not
  int max_fast_scale = 1;  // the largest ImageRegion::fast_scale: 8 for JPEG

  int pixel_bytes() const { return channels * value_bytes; }

  // Return the extents as stored in the file, before the picture is turned.
  int64_t stored_height() const { return orientation >= 5 ? width : height; }
  int64_t stored_width() const { return orientation >= 5 ? height : width; }
};

// A rectangle in pixels of the delivered picture. It must lie inside and have at least one pixel.
struct ImageRegion {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  // 1, 2, 4 or 8: decodes a picture that many times smaller, to which the members above then refer
  // (FastScaledExtent). JPEG computes it from fewer coefficients of each block: much faster, and
  // not what decoding and then resizing gives.
  int fast_scale = 1;
};

// Returns `extent` pixels at a scale of 1 / fast_scale, rounded up.
constexpr int64_t FastScaledExtent(int64_t extent, int fast_scale) {
  return (extent + fast_scale - 1) / fast_scale;
}

// Returns the whole picture.
ImageRegion WholeImage(const ImageInfo& info, int fast_scale = 1);

// The destination of pixels: rows of interleaved channels (R G B R G B ...).
struct PixelRows {
  uint8_t* data = nullptr;
  int64_t stride = 0;  // bytes from one row to the next, at least width * channels

  uint8_t* row(int64_t y) const { return data + y * stride; }
};

// Detects the format from the first bytes. Errors name formats that Stoker does not read.
//   name  what messages call the picture: the file's path
// Errors: kDataLoss (empty, no picture), kUnimplemented (GIF, TIFF, AVIF, ...).
Result<ImageFormat> DetectImageFormat(std::span<const std::byte> bytes, std::string_view name);

// Reads the header. Allocates nothing in proportion to the picture.
//   bytes  the whole file, at most 2 GiB; borrowed until the call returns
// Errors: those of DetectImageFormat; kDataLoss (damaged or cut short; the message gives the byte),
// kOutOfRange (more pixels than the limits allow), kUnimplemented (12 bits, animations, ...).
// Threads: concurrent calls are safe.
Result<ImageInfo> ProbeImage(std::span<const std::byte> bytes, std::string_view name,
                             const DecodeOptions& options = {});

// Decodes one region.
//   info     from ProbeImage of the same bytes with the same options
//   out      region.height rows of region.width * info.pixel_bytes() bytes; unspecified if the call
//            fails
//   scratch  working memory, reused between calls; what libspng (about 100 KB a picture) and
//            libwebp (a few times the decoded rows' size) allocate is freed before the call returns
// Cost: JPEG entropy-decodes the rows above the region, and transforms only the blocks the region
// needs (and their neighbours); a progressive one is entropy-decoded as a whole. PNG unpacks the
// rows above, all rows if it is interlaced; BMP and PNM read the region's bytes, or the rows above
// if they are run-length coded. Errors: as ProbeImage, and kInvalidArgument (a region outside the
// picture, a scale that the format does not have), kResourceExhausted (no memory), kCancelled (the
// thread was asked to stop; checks StopScope every few milliseconds, but not within a row of a PNG
// or BMP, nor within a WebP, of at most 16,383 x 16,383 pixels). Damage in a part of the file that
// the region does not need may go unnoticed. Threads: concurrent calls are safe with different
// `scratch`. The same bytes on every CPU.
Status DecodeImageRegion(std::span<const std::byte> bytes, std::string_view name,
                         const ImageInfo& info, const ImageRegion& region,
                         const DecodeOptions& options, const PixelRows& out,
                         DecodeScratch& scratch);

// Probes and decodes the whole picture: uint8 [height, width, channels], of kIndex16 uint8 [height,
// width, 2]. A convenience for tools and tests.
Result<Array> DecodeImage(std::span<const std::byte> bytes, std::string_view name,
                          const DecodeOptions& options = {});

}  // namespace stoker
