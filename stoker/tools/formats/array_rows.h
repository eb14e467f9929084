// The rows of an array along its first dimension, which sources make samples of.
#pragma once

#include <utility>

#include "stoker/base/array.h"
#include "stoker/base/json.h"

namespace stoker {

// A scalar is one row.
inline int64_t RowsOf(const Shape& shape) { return shape.empty() ? 1 : shape.front(); }
inline int64_t RowsOf(const Array& array) { return RowsOf(array.shape()); }

// {"dtype", "shape"} of one row.
inline Json RowJson(DType dtype, Shape shape) {
  if (!shape.empty()) shape.erase(shape.begin());
  return {{"dtype", DTypeName(dtype)}, {"shape", std::move(shape)}};
}
inline Json RowJson(const Array& array) { return RowJson(array.dtype(), array.shape()); }

}  // namespace stoker
