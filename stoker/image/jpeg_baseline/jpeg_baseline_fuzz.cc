// Ours against libjpeg-turbo: where both decode a picture and libjpeg has nothing to complain of,
// the pixels are the same, and a region has those of the whole.
#include <cstdlib>
#include <cstring>

#include "stoker/image/jpeg.h"
#include "stoker/image/jpeg_baseline/jpeg_baseline.h"
#include "stoker/image/libjpeg_decoder.h"

namespace {

using namespace stoker;  // NOLINT: one file, one function

std::vector<uint8_t> PixelsOf(const ImageInfo& info, const ImageRegion& region) {
  return std::vector<uint8_t>(static_cast<size_t>(region.height * region.width * info.channels));
}

// A part of the picture that depends on the input.
ImageRegion SomeRegion(const ImageInfo& info, const uint8_t* data, size_t size) {
  const auto draw = [&](size_t i, int64_t below) { return (data[i % size] * 256 + i) % below; };
  ImageRegion region;
  region.y = static_cast<int64_t>(draw(size / 2, info.height));
  region.x = static_cast<int64_t>(draw(size / 3, info.width));
  region.height = 1 + static_cast<int64_t>(draw(size / 5, info.height - region.y));
  region.width = 1 + static_cast<int64_t>(draw(size / 7, info.width - region.x));
  return region;
}

void ExpectPart(const std::vector<uint8_t>& part, const std::vector<uint8_t>& whole,
                const ImageInfo& info, const ImageRegion& region) {
  const auto row_bytes = static_cast<size_t>(region.width * info.channels);
  for (int64_t y = 0; y < region.height; ++y) {
    const auto at = ((region.y + y) * info.width + region.x) * info.channels;
    if (std::memcmp(part.data() + static_cast<size_t>(y) * row_bytes, whole.data() + at,
                    row_bytes) != 0) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const EncodedImage image{{reinterpret_cast<const std::byte*>(data), size}, "fuzz"};
  const DecodeOptions options{.apply_orientation = false, .limits = {.max_pixels = 1 << 16}};
  const Result<ImageInfo> info = ProbeJpeg(image, options);
  if (!info.ok()) return 0;
  DecodeScratch scratch;
  const ImageRegion all{0, 0, info->height, info->width};
  const ImageRegion part = SomeRegion(*info, data, size);
  std::vector<uint8_t> ours = PixelsOf(*info, all), theirs = ours, some = PixelsOf(*info, part);
  const Result<bool> whole =
      DecodeBaselineJpeg(image, *info, all, {ours.data(), info->width * info->channels}, scratch);
  scratch.Reset();
  const Result<bool> partly =
      DecodeBaselineJpeg(image, *info, part, {some.data(), part.width * info->channels}, scratch);
  if (!whole.ok() || !*whole) return 0;
  if (!partly.ok() || !*partly) std::abort();  // a part needs no more than the whole
  ExpectPart(some, ours, *info, part);
  scratch.Reset();
  const Status status = DecodeWithLibjpeg(image, *info, all, options,
                                          {theirs.data(), info->width * info->channels}, scratch);
  if (status.ok() && ours != theirs) std::abort();
  return 0;
}
