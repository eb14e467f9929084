#include "stoker/base/shape.h"

#include <algorithm>
#include <limits>

namespace stoker {

bool IsFullyKnown(std::span<const int64_t> shape) {
  return std::none_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == kUnknownDim; });
}

int64_t NumValues(std::span<const int64_t> shape) {
  // Saturates at the largest count: no machine has memory for so many values.
  constexpr int64_t kUncountable = std::numeric_limits<int64_t>::max();
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t product = 1;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(product, dim, &product)) return kUncountable;
  }
  return product;
}

Shape ShapeOfRows(int64_t rows, std::span<const int64_t> shape_of_one) {
  Shape shape;
  shape.reserve(shape_of_one.size() + 1);  // one allocation: a batch has one for each field
  shape.push_back(rows);
  shape.insert(shape.end(), shape_of_one.begin(), shape_of_one.end());
  return shape;
}

std::string ShapeToString(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] == kUnknownDim ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace stoker
