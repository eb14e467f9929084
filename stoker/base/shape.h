// The shape of an array: one extent a dimension, -1 if it is not known beforehand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stoker {

using Shape = std::vector<int64_t>;

inline constexpr int64_t kUnknownDim = -1;

// Returns true if no extent is -1.
bool IsFullyKnown(std::span<const int64_t> shape);

// Returns the product of the extents (1 for a scalar); the shape must be fully known.
int64_t NumValues(std::span<const int64_t> shape);

// Returns the shape of an array whose first dimension counts rows of this shape.
Shape ShapeOfRows(int64_t rows, std::span<const int64_t> shape_of_one);

// Returns "[128, 1, 28, 28]", "[?, 28]", "[]".
std::string ShapeToString(std::span<const int64_t> shape);

}  // namespace stoker
