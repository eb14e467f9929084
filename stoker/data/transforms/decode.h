#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Decodes pictures from the bytes of their files (JPEG, PNG, BMP, WebP, PNM, detected by content):
// uint8[-1] becomes uint8[C, -1, -1], C planes of rows; C is 3, 1 for `grey`, and 1 or 3 as in the
// file for `as_stored`. image/decode.h describes each format.
//
// For masks of classes, PNGs with a palette, or grey ones, whose numbers are the classes:
// `channels: index` returns the stored numbers, uint8[1, -1, -1], and `index16` those of 16 bits
// too, int32[1, -1, -1].
//
// Bytes that cannot be decoded (damaged, empty, not a picture, more than `max_pixels`) are an error
// of the sample; it begins with the path of the file if the source has one (`folder`, `list`,
// `files`) or the element a field `path`. `on_error` handles such samples.
//
// Sizes differ between samples, so put `resize` or a crop between this and `batch`.
struct Decode {
  static constexpr std::string_view kName = "decode";
  static constexpr std::string_view kHelp =
      "Decodes JPEG, PNG, BMP, WebP and PNM pictures from the bytes of their files.";
  static constexpr bool kArranges = false;
  std::string channels = "rgb";
  std::string orientation = "apply";
  std::vector<int64_t> background;
  std::string jpeg_warnings = "error";
  int64_t max_pixels = int64_t{1} << 26;
  int64_t fast_scale_side = 0;
  std::string field = "image";

  static void Describe(OptionTable<Decode>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
