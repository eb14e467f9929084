// Helpers of the tests of all decoders: a region must be a crop of the whole. Only tests include
// it.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
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

// Returns a TIFF structure with one entry, the orientation, in either byte order.
inline std::vector<uint8_t> ExifOf(uint8_t orientation, bool big_endian) {
  if (big_endian)
    return {'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 1, 18, 0,
            3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0, 0,  0};
  return {'I', 'I', 42, 0, 8, 0,           0, 0, 1, 0, 18, 1, 3,
          0,   1,   0,  0, 0, orientation, 0, 0, 0, 0, 0,  0, 0};
}

inline std::string GreyPng(int width, int height, std::vector<uint8_t> samples,
                           std::vector<uint8_t> exif = {}) {
  return EncodePng(width, height,
                   {.color_type = SPNG_COLOR_TYPE_GRAYSCALE, .exif = std::move(exif)}, samples);
}

// DecodeImageRegion, or its replacement in a test.
using RegionDecoder = std::function<Status(std::span<const std::byte>, std::string_view,
                                           const ImageInfo&, const ImageRegion&,
                                           const DecodeOptions&, const PixelRows&, DecodeScratch&)>;

// Decodes a region into rows of just its width.
inline Result<std::vector<uint8_t>> DecodeRegion(std::string_view file, const ImageInfo& info,
                                                 const ImageRegion& region,
                                                 const DecodeOptions& options,
                                                 DecodeScratch& scratch,
                                                 const RegionDecoder& decode = DecodeImageRegion) {
  const int64_t stride = region.width * info.pixel_bytes();
  std::vector<uint8_t> pixels(static_cast<size_t>(region.height * stride));
  STOKER_RETURN_IF_ERROR(
      decode(BytesOf(file), "picture", info, region, options, {pixels.data(), stride}, scratch));
  return pixels;
}

// Returns that part of a whole picture at the region's scale.
inline std::vector<uint8_t> CropOf(const std::vector<uint8_t>& whole, const ImageInfo& info,
                                   const ImageRegion& region) {
  const int64_t width = FastScaledExtent(info.width, region.fast_scale);
  std::vector<uint8_t> cropped;
  for (int64_t y = region.y; y < region.y + region.height; ++y) {
    const auto begin = whole.begin() + (y * width + region.x) * info.pixel_bytes();
    cropped.insert(cropped.end(), begin, begin + region.width * info.pixel_bytes());
  }
  return cropped;
}

// Decodes regions that begin at every column and every row, of one, a few, and all remaining
// pixels, and checks the rule.
inline void ExpectEveryRegionIsACrop(std::string_view file, const DecodeOptions& options = {},
                                     int fast_scale = 1,
                                     const RegionDecoder& decode = DecodeImageRegion) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ImageInfo info, ProbeImage(BytesOf(file), "picture", options));
  const ImageRegion all = WholeImage(info, fast_scale);
  DecodeScratch scratch;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto whole,
                              DecodeRegion(file, info, all, options, scratch, decode));
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
    STOKER_ASSERT_OK_AND_ASSIGN(const auto got,
                                DecodeRegion(file, info, region, options, scratch, decode));
    ASSERT_TRUE(got == CropOf(whole, info, region))
        << region.width << " x " << region.height << " at x " << region.x << ", y " << region.y
        << " of " << all.width << " x " << all.height << " at 1/" << fast_scale;
  }
}

}  // namespace stoker
