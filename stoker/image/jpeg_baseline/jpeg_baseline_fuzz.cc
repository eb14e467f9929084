// Ours against libjpeg-turbo: where both decode a picture at some scale and libjpeg has nothing to
// complain of, the pixels are the same, and a region has those of the whole.
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
ImageRegion SomeRegion(const ImageRegion& all, const uint8_t* data, size_t size) {
  const auto draw = [&](size_t i, int64_t below) {
    return (data[i % size] * 256 + static_cast<int64_t>(i)) % below;
  };
  ImageRegion region{.fast_scale = all.fast_scale};
  region.y = draw(size / 2, all.height);
  region.x = draw(size / 3, all.width);
  region.height = 1 + draw(size / 5, all.height - region.y);
  region.width = 1 + draw(size / 7, all.width - region.x);
  return region;
}

void ExpectPart(const std::vector<uint8_t>& part, const ImageRegion& region,
                const std::vector<uint8_t>& whole, const ImageRegion& all, int channels) {
  const auto row_bytes = static_cast<size_t>(region.width * channels);
  for (int64_t y = 0; y < region.height; ++y) {
    const auto at = ((region.y + y) * all.width + region.x) * channels;
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
  const ImageRegion all = WholeImage(*info, 1 << (data[size - 1] & 3));
  const ImageRegion part = SomeRegion(all, data, size);
  std::vector<uint8_t> ours = PixelsOf(*info, all), theirs = ours, some = PixelsOf(*info, part);
  const PixelRows ours_rows{ours.data(), all.width * info->channels};
  const Result<bool> whole = DecodeBaselineJpeg(image, *info, all, ours_rows, scratch);
  scratch.Reset();
  const Result<bool> partly =
      DecodeBaselineJpeg(image, *info, part, {some.data(), part.width * info->channels}, scratch);
  if (!whole.ok() || !*whole) return 0;
  if (!partly.ok() || !*partly) std::abort();  // a part needs no more than the whole
  ExpectPart(some, part, ours, all, info->channels);
  scratch.Reset();
  const Status status =
      DecodeWithLibjpeg(image, *info, all, options, {theirs.data(), ours_rows.stride}, scratch);
  if (status.ok() && ours != theirs) std::abort();
  return 0;
}
