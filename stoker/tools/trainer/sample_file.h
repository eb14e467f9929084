// Images from files, as `stoker predict` is given them.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// What a recipe's eval pipeline begins with, behind its source.
enum class SampleForm : uint8_t {
  kPixels,  // images
  kFiles    // the bytes of picture files, which it decodes itself
};

// The first `limit` (0: all) images of `path`, known by content, as Predictor::Predict takes them:
// of kPixels uint8 [n, channels, height, width] from an IDX file, plain or compressed, or from a
// picture (JPEG, PNG, BMP, WebP, PNM; as many channels as it has, upright, transparency dropped);
// of kFiles uint8 [1, bytes], a picture file as it is. Errors: kDataLoss for another kind, which it
// names; those of the decoders.
Result<Array> ReadSamples(const std::string& path, SampleForm form, int64_t limit);

}  // namespace stoker
