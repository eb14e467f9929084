#include "stoker/tools/tensor_list.h"

#include <fmt/format.h>

#include "stoker/tools/text.h"

namespace stoker {

void TensorList::Add(std::string_view name, DType dtype, const Shape& shape) {
  const int64_t values = NumValues(shape);
  const uint64_t bytes = static_cast<uint64_t>(values) * DTypeSize(dtype);
  json_[std::string(name)] = {{"dtype", DTypeName(dtype)}, {"shape", shape}, {"bytes", bytes}};
  rows_.push_back(
      {std::string(name), std::string(DTypeName(dtype)), ShapeToString(shape), ByteText(bytes)});
  values_ += values;
  bytes_ += bytes;
}

std::string TensorList::Totals() const {
  return fmt::format("{} tensors, {} values, {}", size(),
                     WithThousands(static_cast<double>(values_)), ByteText(bytes_));
}

std::string TensorList::Table() const { return TableText(rows_, 2); }

}  // namespace stoker
