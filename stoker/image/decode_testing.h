// What tests of all decoders share: encoders for PNG and WebP, and the rule that a region is a crop
// of the whole. Included by tests only.
#pragma once

#include <spng.h>
#include <webp/encode.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/image/decode.h"
#include "stoker/image/testing.h"

namespace stoker {

inline std::vector<uint8_t> Values(const Array& image) {
  const auto values = image.values<uint8_t>();
  return {values.begin(), values.end()};
}

struct PngSettings {
  uint8_t color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  uint8_t bit_depth = 8;
  bool interlaced = false;
  std::vector<uint8_t> palette = {};  // R, G, B, A of each entry
  std::vector<uint8_t> exif = {};
  bool transparent_black = false;  // tRNS: grey 0, or R = G = B = 0
};

// A PNG with these rows, packed as the format wants them (16-bit samples in host order).
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
  EXPECT_EQ(spng_set_ihdr(context, &header), 0);
  spng_plte palette = {};
  spng_trns alpha = {};
  for (size_t i = 0; i < settings.palette.size() / 4; ++i) {
    const uint8_t* rgba = &settings.palette[4 * i];
    palette.entries[palette.n_entries++] = {rgba[0], rgba[1], rgba[2], 255};
    alpha.type3_alpha[alpha.n_type3_entries++] = rgba[3];
  }
  if (palette.n_entries > 0) {
    EXPECT_EQ(spng_set_plte(context, &palette), 0);
  }
  if (palette.n_entries > 0 || settings.transparent_black) {
    EXPECT_EQ(spng_set_trns(context, &alpha), 0);
  }
  spng_exif exif{settings.exif.size(),
                 const_cast<char*>(reinterpret_cast<const char*>(settings.exif.data()))};
  if (exif.length > 0) {
    EXPECT_EQ(spng_set_exif(context, &exif), 0);
  }
  EXPECT_EQ(
      spng_encode_image(context, rows.data(), rows.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE), 0);
  size_t size = 0;
  int error = 0;
  void* buffer = spng_get_png_buffer(context, &size, &error);
  std::string png(static_cast<const char*>(buffer), size);
  std::free(buffer);
  spng_ctx_free(context);
  return png;
}

// A WebP of a picture in RGB or RGBA.
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
  EXPECT_GT(size, 0u);
  std::string webp(reinterpret_cast<const char*>(encoded), size);
  WebPFree(encoded);
  return webp;
}

// Decodes a region into rows of just its width.
inline Result<std::vector<uint8_t>> DecodeRegion(std::string_view file, const ImageInfo& info,
                                                 const ImageRegion& region,
                                                 const DecodeOptions& options,
                                                 DecodeScratch& scratch) {
  const int64_t stride = region.width * info.channels;
  std::vector<uint8_t> pixels(static_cast<size_t>(region.height * stride));
  STOKER_RETURN_IF_ERROR(DecodeImageRegion(BytesOf(file), "picture", info, region, options,
                                           {pixels.data(), stride}, scratch));
  return pixels;
}

// That part of a whole picture at the region's scale.
inline std::vector<uint8_t> CropOf(const std::vector<uint8_t>& whole, const ImageInfo& info,
                                   const ImageRegion& region) {
  const int64_t width = FastScaledExtent(info.width, region.fast_scale);
  std::vector<uint8_t> cropped;
  for (int64_t y = region.y; y < region.y + region.height; ++y) {
    const auto begin = whole.begin() + (y * width + region.x) * info.channels;
    cropped.insert(cropped.end(), begin, begin + region.width * info.channels);
  }
  return cropped;
}

// Decodes regions that begin at every column and every row, of one, a few, and all pixels that are
// left, and holds them to the rule.
inline void ExpectEveryRegionIsACrop(std::string_view file, const DecodeOptions& options = {},
                                     int fast_scale = 1) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(file), "picture", options));
  const ImageRegion all = WholeImage(info, fast_scale);
  DecodeScratch scratch;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto whole, DecodeRegion(file, info, all, options, scratch));
  std::vector<ImageRegion> regions;
  for (int64_t x = 0; x < all.width; ++x) {
    for (const int64_t width : {int64_t{1}, int64_t{9}, all.width - x}) {
      const int64_t y = x * 5 % all.height;
      regions.push_back(
          {y, x, std::min(all.height - y, 1 + x % 7), std::min(all.width - x, width)});
    }
  }
  for (int64_t y = 0; y < all.height; ++y) {
    for (const int64_t height : {int64_t{1}, int64_t{6}, int64_t{17}, all.height - y}) {
      const int64_t x = y * 3 % all.width;
      regions.push_back(
          {y, x, std::min(all.height - y, height), std::min(all.width - x, 1 + y % 40)});
    }
  }
  for (ImageRegion& region : regions) {
    region.fast_scale = fast_scale;
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got, DecodeRegion(file, info, region, options, scratch));
    ASSERT_TRUE(got == CropOf(whole, info, region))
        << region.width << " x " << region.height << " at x " << region.x << ", y " << region.y
        << " of " << all.width << " x " << all.height << " at 1/" << fast_scale;
  }
}

}  // namespace stoker
