#include "stoker/tools/formats/tensor_list.h"

#include <fmt/format.h>

#include "stoker/tools/program/text.h"

namespace stoker {

void TensorList::Add(std::string_view name, DType dtype, const Shape& shape) {
  Add(name, DTypeName(dtype), shape, static_cast<uint64_t>(NumValues(shape)) * DTypeSize(dtype));
}

void TensorList::Add(std::string_view name, std::string_view type, const Shape& shape,
                     uint64_t bytes) {
  json_[std::string(name)] = {{"dtype", type}, {"shape", shape}, {"bytes", bytes}};
  rows_.push_back({std::string(name), std::string(type), ShapeToString(shape), ByteText(bytes)});
  values_ += NumValues(shape);
  bytes_ += bytes;
}

std::string TensorList::Totals() const {
  return fmt::format("{}, {}, {}", CountText(static_cast<int64_t>(size()), "tensor"),
                     CountText(values_, "value"), ByteText(bytes_));
}

std::string TensorList::Table() const { return TableText(rows_, 2); }

}  // namespace stoker
