// An array as rows along its first dimension, which are what a source makes samples of.
#pragma once

#include "stoker/base/array.h"
#include "stoker/base/json.h"

namespace stoker {

// A scalar is one row.
inline int64_t RowsOf(const Array& array) {
  return array.shape().empty() ? 1 : array.shape().front();
}

// {"dtype", "shape"} of one row.
inline Json RowJson(const Array& array) {
  Shape row = array.shape();
  if (!row.empty()) row.erase(row.begin());
  return {{"dtype", DTypeName(array.dtype())}, {"shape", row}};
}

}  // namespace stoker
