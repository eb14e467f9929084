// Gives readers of formats that copy values memory of a transform's scratch, which is charged and
// used again.
#pragma once

#include <utility>

#include "stoker/data/core/transform.h"
#include "stoker/formats/chunked/chunked_array.h"

namespace stoker {

// Returns a function that makes arrays in `scratch`, which is borrowed, for formats that copy
// values.
inline NewArray RoomIn(Scratch& scratch) {
  return [&scratch](DType dtype, Shape shape) { return scratch.NewArray(dtype, std::move(shape)); };
}

}  // namespace stoker
