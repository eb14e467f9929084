// Encoded pictures to pixels: JPEG, PNG, BMP, WebP and binary PNM behind one interface. A picture
// is probed first (its header says how large it is), then any region of it is decoded.
//
// The rule: a region has the bytes that cropping the whole decoded picture would give, at every
// scale and orientation. So what is cropped away need not be computed, and a pipeline may ask for
// less without changing a result.
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

// "JPEG", "PNG", ...
std::string_view ImageFormatName(ImageFormat format);

// Which channels come out, whatever the file holds.
enum class ImageChannels : uint8_t {
  kAsStored,  // 1 for grey pictures, else 3; CMYK becomes RGB, palettes are looked up
  // 1: the luma of ITU-R BT.601, as PIL's mode L; of a JPEG in YCbCr its Y, as it is stored
  kGrey,
  kRgb,  // 3: grey pictures have three equal channels
  // 1: the numbers that a PNG with a palette or a grey one stores, of 1 to 8 bits, as they are: the
  // indices of its colours, as PIL's mode P, and grey that is not scaled to 255. For masks whose
  // values are classes. Other pictures are refused.
  kIndex,
  kIndex16,  // 1: the same of up to 16 bits, two bytes a value (uint16_t as the CPU has it)
};

struct DecodeOptions {
  ImageChannels channels = ImageChannels::kRgb;
  // Turns the picture upright, as the EXIF orientation of a JPEG, PNG or WebP says.
  bool apply_orientation = true;
  // Transparent pixels are laid over this colour (R, G, B); without one, alpha is dropped.
  std::optional<std::array<uint8_t, 3>> background;
  // What libjpeg warns of (damaged or missing entropy-coded data, bytes too many) is an error. If
  // not, it makes up pixels for what is damaged and goes on.
  bool jpeg_warnings_are_errors = true;
  ImageLimits limits;
};

// What the header says.
struct ImageInfo {
  ImageFormat format = ImageFormat::kPnm;
  int64_t height = 0;  // in pixels as delivered: of the upright picture where that is asked for
  int64_t width = 0;
  int channels = 0;        // as delivered: 1 or 3
  int value_bytes = 1;     // of a value as delivered: 1, or 2 for kIndex16
  int bits = 8;            // of a stored sample (of a palette's index)
  bool alpha = false;      // the file has transparency
  int orientation = 1;     // 1..8 as in EXIF: how decoding turns the picture; 1 where it does not
  int max_fast_scale = 1;  // the largest ImageRegion::fast_scale: 8 for JPEG

  int pixel_bytes() const { return channels * value_bytes; }

  // As stored in the file, before it is turned.
  int64_t stored_height() const { return orientation >= 5 ? width : height; }
  int64_t stored_width() const { return orientation >= 5 ? height : width; }
};

// A rectangle in pixels of the delivered picture. It must lie inside and have at least one pixel.
struct ImageRegion {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
  // 1, 2, 4 or 8: decodes a picture that many times smaller, to which all of the above then refers
  // (FastScaledExtent). JPEG computes it from fewer coefficients of each block: much faster, and
  // not what decoding and then resizing gives.
  int fast_scale = 1;
};

// `extent` pixels at a scale of 1 / fast_scale, rounded up.
constexpr int64_t FastScaledExtent(int64_t extent, int fast_scale) {
  return (extent + fast_scale - 1) / fast_scale;
}

// The whole picture.
ImageRegion WholeImage(const ImageInfo& info, int fast_scale = 1);

// Where pixels go: rows of interleaved channels (R G B R G B ...).
struct PixelRows {
  uint8_t* data = nullptr;
  int64_t stride = 0;  // bytes from one row to the next, at least width * channels

  uint8_t* row(int64_t y) const { return data + y * stride; }
};

// Tells the format by the first bytes. Formats that Stoker does not read are named in the error.
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
// rows above, all rows where it is interlaced; BMP and PNM read the region's bytes, or the rows
// above where they are run-length coded.
// Errors: as ProbeImage, and kInvalidArgument (a region outside the picture, a scale that the
// format does not have), kResourceExhausted (no memory), kCancelled (the thread was asked to stop,
// StopScope, which is looked at every few milliseconds; within a row of a PNG or BMP, and within a
// WebP, of at most 16,383 x 16,383 pixels, it is not). Damage in a part of the file that the
// region does not need may go unnoticed. Threads: concurrent calls are safe with different
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
