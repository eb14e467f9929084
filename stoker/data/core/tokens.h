#pragma once

#include "stoker/data/core/spec.h"

namespace stoker {

// Returns whether a field of batches holds a sequence of whole numbers a sample, such as the tokens
// of a text: [n, length] of 16 to 64 bits.
inline bool IsTokens(const Field& field) {
  const bool whole =
      field.dtype == DType::kInt16 || field.dtype == DType::kInt32 || field.dtype == DType::kInt64;
  return whole && field.shape.size() == 2;
}

}  // namespace stoker
