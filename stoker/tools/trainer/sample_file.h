// Reads images from files for `stoker predict`.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// The input of a recipe's eval pipeline after its source.
enum class SampleForm : uint8_t {
  kPixels,  // images
  kFiles    // the bytes of picture files, which it decodes itself
};

// Returns the first `limit` (0: all) images of `path`, whose format is detected by content, for
// Predictor::Predict: for kPixels uint8 [n, channels, height, width] from an IDX file, plain or
// compressed, or from a picture (JPEG, PNG, BMP, WebP, PNM; with its number of channels, upright,
// transparency dropped); for kFiles uint8 [1, bytes], the bytes of a picture file. Errors:
// kDataLoss for another kind, which it names; those of the decoders.
Result<Array> ReadSamples(const std::string& path, SampleForm form, int64_t limit);

}  // namespace stoker
