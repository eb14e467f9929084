#include "stoker/base/shape.h"

#include <algorithm>

namespace stoker {

bool IsFullyKnown(std::span<const int64_t> shape) {
  return std::none_of(shape.begin(), shape.end(), [](int64_t dim) { return dim == kUnknownDim; });
}

int64_t NumValues(std::span<const int64_t> shape) {
  int64_t product = 1;
  for (const int64_t dim : shape) product *= dim;
  return product;
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
