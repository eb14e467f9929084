#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Pictures from the bytes of their files (JPEG, PNG, BMP, WebP, PNM, told by content): uint8[-1]
// becomes uint8[C, -1, -1], C planes of rows; C is 3, for `grey` 1, and for `as_stored` 1 or 3 as
// the file has it. image/decode.h says how each format is read.
//
// Masks of classes are PNGs with a palette, or grey ones, whose numbers are the classes: `channels:
// index` gives those as they are stored, uint8[1, -1, -1], and `index16` those of 16 bits too,
// int32[1, -1, -1].
//
// What cannot be decoded (damaged, empty, no picture, more than `max_pixels`) is an error of the
// sample; it begins with the path of the file where the source has one (`folder`, `list`, `files`)
// or the element a field `path`. `on_error` says what becomes of such samples.
//
// Sizes differ between samples, so `resize` or a crop stands between this and `batch`.
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
