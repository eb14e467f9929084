#include "stoker/data/core/row_arrays.h"

#include <cstring>

namespace stoker {

Array ArrayOfBytes(const Field& field, const std::string& bytes, Scratch& scratch) {
  size_t step = DTypeSize(field.dtype);
  for (size_t d = 1; d < field.shape.size(); ++d) step *= static_cast<size_t>(field.shape[d]);
  Shape shape = field.shape;
  shape.front() = static_cast<int64_t>(bytes.size() / step);
  Array array = scratch.NewArray(field.dtype, std::move(shape));
  if (!bytes.empty()) std::memcpy(array.data(), bytes.data(), bytes.size());
  return array;
}

}  // namespace stoker
