// Checks the rule of decode.h on any bytes: for tests and fuzzers.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "stoker/image/decode.h"

namespace stoker {

namespace internal {
// Rows with gaps of a few bytes between them, as in a batch, which must not change.
struct GuardedRows {
  static constexpr int64_t kGuard = 5;
  static constexpr uint8_t kCanary = 0xa7;

  GuardedRows(const ImageInfo& info, const ImageRegion& region)
      : row_bytes(region.width * info.pixel_bytes()),
        height(region.height),
        bytes(static_cast<size_t>(height * (row_bytes + kGuard)), kCanary) {}

  PixelRows rows() { return {bytes.data(), row_bytes + kGuard}; }
  const uint8_t* row(int64_t y) const { return bytes.data() + y * (row_bytes + kGuard); }
  bool intact() const {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t i = 0; i < kGuard; ++i) {
        if (row(y)[row_bytes + i] != kCanary) return false;
      }
    }
    return true;
  }

  int64_t row_bytes;
  int64_t height;
  std::vector<uint8_t> bytes;
};

// Returns a number below n from a generator of Knuth's (The Art of Computer Programming, vol. 2,
// 3.3.4).
inline int64_t NextBelow(uint64_t& state, int64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(n));
}
}  // namespace internal

// Decodes the whole and `num_regions` regions drawn from `seed`. If the whole can be decoded, every
// region must be too, with the same bytes. Returns the difference, or nothing.
inline std::string WrongWithRegions(std::span<const std::byte> bytes, const DecodeOptions& options,
                                    uint64_t seed, int num_regions) {
  const auto info = ProbeImage(bytes, "p", options);
  if (!info.ok())
    return info.status().message().starts_with("p: ") ? "" : "the error names no file";
  uint64_t state = seed;
  const int scale = 1 << internal::NextBelow(state, info->max_fast_scale == 8 ? 4 : 1);
  const ImageRegion all = WholeImage(*info, scale);
  DecodeScratch scratch;
  internal::GuardedRows whole(*info, all);
  const Status whole_status =
      DecodeImageRegion(bytes, "p", *info, all, options, whole.rows(), scratch);
  if (!whole.intact()) return "the whole was written beyond its rows";
  for (int i = 0; i < num_regions; ++i) {
    ImageRegion region{.y = internal::NextBelow(state, all.height),
                       .x = internal::NextBelow(state, all.width),
                       .fast_scale = scale};
    region.height = 1 + internal::NextBelow(state, all.height - region.y);
    region.width = 1 + internal::NextBelow(state, all.width - region.x);
    const std::string where =
        fmt::format("region of {} x {} at x {}, y {} of {} x {} at 1/{}: ", region.width,
                    region.height, region.x, region.y, all.width, all.height, scale);
    internal::GuardedRows part(*info, region);
    const Status status =
        DecodeImageRegion(bytes, "p", *info, region, options, part.rows(), scratch);
    if (!part.intact()) return where + "written beyond its rows";
    if (!whole_status.ok()) continue;
    if (!status.ok()) return where + status.ToString() + ", but the whole is decoded";
    for (int64_t y = 0; y < region.height; ++y) {
      const uint8_t* want = whole.row(region.y + y) + region.x * info->pixel_bytes();
      if (std::memcmp(part.row(y), want, static_cast<size_t>(part.row_bytes)) != 0)
        return where + fmt::format("row {} differs from the whole", y);
    }
  }
  return "";
}

}  // namespace stoker
