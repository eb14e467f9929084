// The markers of a JPEG up to its first scan (ITU-T T.81, annex B), read without libjpeg.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/image_codec.h"

namespace stoker {

struct JpegComponent {
  uint8_t id = 0;
  uint8_t h = 1;  // sampling factors, 1..4
  uint8_t v = 1;
  uint8_t quantization_table = 0;
};

struct JpegHeader {
  int64_t height = 0;
  int64_t width = 0;
  bool progressive = false;
  int num_components = 0;  // 1, 3 or 4
  std::array<JpegComponent, 4> components;
  int orientation = 1;   // of EXIF
  size_t scan_byte = 0;  // offset of the first SOS marker
};

// Errors: kDataLoss (damaged, cut short; the message gives the byte), kUnimplemented (12 bits,
// lossless, arithmetic coding, hierarchical, heights given by DNL, 2 components).
Result<JpegHeader> ReadJpegHeader(const EncodedImage& jpeg);

}  // namespace stoker
