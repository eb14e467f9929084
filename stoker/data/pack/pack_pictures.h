// Resizes and re-encodes pictures before packing.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/data/pack/pack_source.h"

namespace stoker {

struct PackPictures {
  std::optional<int64_t> resize;   // pixels of the shorter side; smaller pictures keep their size
  std::optional<int64_t> quality;  // of the JPEGs, 1 to 100; 90 if only `resize` is given
};

// Returns the source with each picture in its field `image` (the bytes of files, or decoded planes)
// resized and encoded as JPEG; unchanged if neither option is set. Errors: kInvalidArgument if the
// field is not a picture.
Result<PackSource> Reencode(PackSource source, const PackPictures& pictures);

}  // namespace stoker
