// Images from files, as `stoker predict` is given them.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// The first `limit` (0: all) images of `path` as [n, channels, height, width]: an IDX file, plain
// or gzip, with images; a PNG, PGM or PPM picture, uint8. Known by content. Errors:
// kDataLoss for another kind, which it names; those of the decoders.
Result<Array> ReadSamples(const std::string& path, int64_t limit);

}  // namespace stoker
