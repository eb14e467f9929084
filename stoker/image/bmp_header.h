// The headers and the palette of a Windows bitmap.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/image_codec.h"

namespace stoker {

enum class BmpCoding : uint8_t { kPlain, kRle8, kRle4 };

// The place of a channel in a pixel of 16 or 32 bits. `bits` is 0 if there is no such channel.
struct BmpField {
  int shift = 0;
  int bits = 0;
};

struct BmpHeader {
  int64_t height = 0;
  int64_t width = 0;
  bool top_down = false;
  int bits = 0;  // of a pixel: 1, 2, 4, 8 with a palette; 16, 24, 32 without
  BmpCoding coding = BmpCoding::kPlain;
  std::array<BmpField, 4> fields;                        // R G B A, of 16 and 32 bits
  std::array<std::array<uint8_t, 3>, 256> palette = {};  // R G B; black beyond the file's entries
  int64_t pixels_at = 0;                                 // byte

  // Returns the bytes of a plain row: a multiple of 4.
  int64_t stride() const { return (width * bits + 31) / 32 * 4; }
};

// Errors: kDataLoss (damaged, cut short, with the byte), kUnimplemented (a JPEG or PNG in a bitmap,
// OS/2's own codings, CMYK), kInvalidArgument (more pixels than the limits allow).
Result<BmpHeader> ReadBmpHeader(const EncodedImage& bmp, const ImageLimits& limits);

}  // namespace stoker
