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

// Returns whether a ragged field holds sequences of steps of numbers, those of all samples:
// [steps], one number each, or [steps, numbers].
inline bool IsRaggedNumbers(const Field& field) {
  const Shape& shape = field.shape;
  return IsFloating(field.dtype) &&
         (shape.size() == 1 || (shape.size() == 2 && shape[1] != kUnknownDim && shape[1] > 0));
}

}  // namespace stoker
