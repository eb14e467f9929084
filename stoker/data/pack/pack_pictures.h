// Pictures made smaller before they are packed.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/data/pack/pack_source.h"

namespace stoker {

struct PackPictures {
  std::optional<int64_t> resize;   // pixels of the shorter side; smaller pictures keep their size
  std::optional<int64_t> quality;  // of the JPEGs, 1 to 100; 90 where only `resize` is given
};

// The source with each picture in its field `image` (the bytes of files, or decoded planes) brought
// to that size and encoded as JPEG. As it is where nothing is asked for. Errors: kInvalidArgument
// where the field is no picture.
Result<PackSource> Reencode(PackSource source, const PackPictures& pictures);

}  // namespace stoker
