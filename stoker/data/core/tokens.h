#pragma once

#include "stoker/data/core/spec.h"

namespace stoker {

// Returns whether numbers of this type may be tokens: whole, of 16 to 64 bits.
constexpr bool IsToken(DType dtype) {
  return dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
}

// Returns whether a field of batches holds a sequence of whole numbers a sample, such as the tokens
// of a text: [n, length].
inline bool IsTokens(const Field& field) { return IsToken(field.dtype) && field.shape.size() == 2; }

// Returns the same of a field that is ragged (ragged_fields.h), the tokens of all samples.
inline bool IsRaggedTokens(const Field& field) {
  return IsToken(field.dtype) && field.shape.size() == 1;
}

}  // namespace stoker
