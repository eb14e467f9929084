// Synthetic pictures, and their encoding by the libraries' own encoders. Only tests and benchmarks
// include it.
#pragma once

#include <spng.h>
#include <webp/encode.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/image/libjpeg.h"

namespace stoker {

inline std::span<const std::byte> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Interleaved samples.
struct TestPicture {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<uint8_t> samples;
};

// Returns a pseudo-random value that depends only on the arguments.
inline uint32_t HashOf(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca77u ^ c * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

// Noise on a grid of `cell` pixels, linear in between: 0..255 in 8-bit fractions.
inline int SmoothNoise(int x, int y, int cell, uint32_t seed) {
  const auto corner = [&](int cx, int cy) {
    return static_cast<int>(HashOf(static_cast<uint32_t>(cx), static_cast<uint32_t>(cy), seed) &
                            255);
  };
  const int cx = x / cell, cy = y / cell;
  const int fx = x % cell * 256 / cell, fy = y % cell * 256 / cell;
  const int top = corner(cx, cy) * (256 - fx) + corner(cx + 1, cy) * fx;
  const int bottom = corner(cx, cy + 1) * (256 - fx) + corner(cx + 1, cy + 1) * fx;
  return (top * (256 - fy) + bottom * fy) >> 8;
}

// Noise of several octaves, as photographs have: shapes of 64 pixels down to a fine grain. The
// channels share brightness, so that there is both colour and grey.
inline TestPicture MakePicture(int width, int height, int channels, uint32_t seed = 1) {
  TestPicture picture{width, height, channels, {}};
  picture.samples.reserve(static_cast<size_t>(width) * height * channels);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int light = 0;
      for (int cell = 64, weight = 24; cell >= 2; cell /= 2, weight = weight * 5 / 8)
        light += SmoothNoise(x, y, cell, seed + static_cast<uint32_t>(cell)) * weight;
      for (int c = 0; c < channels; ++c) {
        const int tint = SmoothNoise(x, y, 40, seed + 1000u + static_cast<uint32_t>(c)) * 40;
        const int value = (light + tint) / (256 * 90) + light / (256 * 180);
        picture.samples.push_back(static_cast<uint8_t>(value > 255 ? 255 : value));
      }
    }
  }
  return picture;
}

// The colours in a JPEG; pictures are given in grey, RGB or, for the last two, in CMYK.
enum class JpegColours { kGrey, kYcc, kRgb, kCmyk, kYcck };

struct JpegSettings {
  int quality = 90;
  JpegColours colours = JpegColours::kYcc;
  // Sampling factors, horizontal and vertical, of each component; empty: 1 and 1.
  std::vector<std::pair<int, int>> sampling = {};
  bool progressive = false;
  bool separate_scans = false;  // a baseline scan for each component
  int restart_interval = 0;     // in MCUs
  int orientation = 0;          // 1..8: writes EXIF
  bool optimize = false;        // Huffman tables of its own
};

inline constexpr std::pair<int, int> k1x1{1, 1};
inline std::vector<std::pair<int, int>> Sampling(int h, int v) { return {{h, v}, k1x1, k1x1}; }

namespace internal {
// EXIF with one entry: the orientation (CIPA DC-008).
inline std::string ExifWith(int orientation) {
  std::string exif("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", 32);
  exif[25] = static_cast<char>(orientation);
  return exif;
}

inline void SetColours(jpeg_compress_struct& cinfo, const JpegSettings& settings) {
  static constexpr J_COLOR_SPACE kSpaces[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK,
                                              JCS_YCCK};
  cinfo.in_color_space = cinfo.input_components == 1   ? JCS_GRAYSCALE
                         : cinfo.input_components == 3 ? JCS_RGB
                                                       : JCS_CMYK;
  jpeg_set_defaults(&cinfo);
  jpeg_set_colorspace(&cinfo, kSpaces[static_cast<int>(settings.colours)]);
  for (int i = 0; i < cinfo.num_components; ++i) {
    const bool given = static_cast<size_t>(i) < settings.sampling.size();
    cinfo.comp_info[i].h_samp_factor = given ? settings.sampling[i].first : 1;
    cinfo.comp_info[i].v_samp_factor = given ? settings.sampling[i].second : 1;
  }
}
}  // namespace internal

// Returns a JPEG of the picture, by libjpeg.
inline std::string EncodeJpeg(const TestPicture& picture, const JpegSettings& settings = {}) {
  jpeg_compress_struct cinfo = {};
  jpeg_error_mgr errors;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  unsigned char* encoded = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&cinfo, &encoded, &size);
  cinfo.image_width = static_cast<JDIMENSION>(picture.width);
  cinfo.image_height = static_cast<JDIMENSION>(picture.height);
  cinfo.input_components = picture.channels;
  internal::SetColours(cinfo, settings);
  jpeg_set_quality(&cinfo, settings.quality, TRUE);
  if (settings.progressive) jpeg_simple_progression(&cinfo);
  jpeg_scan_info scans[4] = {};
  for (int i = 0; i < 4; ++i) scans[i] = {1, {i, 0, 0, 0}, 0, 63, 0, 0};
  if (settings.separate_scans) {
    cinfo.scan_info = scans;
    cinfo.num_scans = cinfo.num_components;
  }
  cinfo.restart_interval = static_cast<unsigned>(settings.restart_interval);
  cinfo.optimize_coding = settings.optimize ? TRUE : FALSE;
  jpeg_start_compress(&cinfo, TRUE);
  if (settings.orientation != 0) {
    const std::string exif = internal::ExifWith(settings.orientation);
    jpeg_write_marker(&cinfo, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                      static_cast<unsigned>(exif.size()));
  }
  const size_t stride = static_cast<size_t>(picture.width) * picture.channels;
  for (size_t y = 0; y < static_cast<size_t>(picture.height); ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(picture.samples.data() + y * stride);
    jpeg_write_scanlines(&cinfo, &row, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  std::string jpeg(reinterpret_cast<const char*>(encoded), size);
  std::free(encoded);
  return jpeg;
}

struct PngSettings {
  uint8_t color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  uint8_t bit_depth = 8;
  bool interlaced = false;
  std::vector<uint8_t> palette = {};  // R, G, B, A of each entry
  std::vector<uint8_t> exif = {};
  bool transparent_black = false;  // tRNS: grey 0, or R = G = B = 0
};

// Returns a PNG with these rows, packed as in the format (16-bit samples in host order); empty if
// libspng refuses them.
inline std::string EncodePng(int width, int height, const PngSettings& settings,
                             const std::vector<uint8_t>& rows) {
  spng_ctx* context = spng_ctx_new(SPNG_CTX_ENCODER);
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
  spng_ihdr header{.width = static_cast<uint32_t>(width),
                   .height = static_cast<uint32_t>(height),
                   .bit_depth = settings.bit_depth,
                   .color_type = settings.color_type,
                   .compression_method = 0,
                   .filter_method = 0,
                   .interlace_method = static_cast<uint8_t>(settings.interlaced ? 1 : 0)};
  spng_set_ihdr(context, &header);
  spng_plte palette = {};
  spng_trns alpha = {};
  for (size_t i = 0; i < settings.palette.size() / 4; ++i) {
    const uint8_t* rgba = &settings.palette[4 * i];
    palette.entries[palette.n_entries++] = {rgba[0], rgba[1], rgba[2], 255};
    alpha.type3_alpha[alpha.n_type3_entries++] = rgba[3];
  }
  if (palette.n_entries > 0) spng_set_plte(context, &palette);
  if (palette.n_entries > 0 || settings.transparent_black) spng_set_trns(context, &alpha);
  spng_exif exif{settings.exif.size(),
                 const_cast<char*>(reinterpret_cast<const char*>(settings.exif.data()))};
  if (exif.length > 0) spng_set_exif(context, &exif);
  spng_encode_image(context, rows.data(), rows.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
  size_t size = 0;
  int error = 0;
  void* buffer = spng_get_png_buffer(context, &size, &error);
  std::string png(static_cast<const char*>(buffer), buffer == nullptr ? 0 : size);
  std::free(buffer);
  spng_ctx_free(context);
  return png;
}

// Returns a WebP of a picture in RGB or RGBA.
inline std::string EncodeWebp(const TestPicture& picture, bool lossless, float quality = 80) {
  const int stride = picture.width * picture.channels;
  const uint8_t* samples = picture.samples.data();
  uint8_t* encoded = nullptr;
  size_t size = 0;
  if (picture.channels == 3) {
    size = lossless
               ? WebPEncodeLosslessRGB(samples, picture.width, picture.height, stride, &encoded)
               : WebPEncodeRGB(samples, picture.width, picture.height, stride, quality, &encoded);
  } else {
    size = lossless
               ? WebPEncodeLosslessRGBA(samples, picture.width, picture.height, stride, &encoded)
               : WebPEncodeRGBA(samples, picture.width, picture.height, stride, quality, &encoded);
  }
  std::string webp(reinterpret_cast<const char*>(encoded), size);
  WebPFree(encoded);
  return webp;
}

}  // namespace stoker
