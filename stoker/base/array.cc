#include "stoker/base/array.h"

#include <utility>

namespace stoker {

Array::Array(Buffer buffer, DType dtype, Shape shape, size_t byte_offset)
    : buffer_(std::move(buffer)),
      data_(buffer_.data() == nullptr ? nullptr : buffer_.data() + byte_offset),
      dtype_(dtype),
      shape_(std::move(shape)),
      num_values_(NumValues(shape_)) {}

Array Array::Allocate(DType dtype, Shape shape, const std::shared_ptr<MemoryAccount>& account) {
  const size_t bytes = static_cast<size_t>(NumValues(shape)) * DTypeSize(dtype);
  return Array(Buffer::Allocate(bytes, account), dtype, std::move(shape));
}

Array Array::Row(int64_t i) const {
  Array row = Rows(i, i + 1);
  row.shape_.erase(row.shape_.begin());
  return row;
}

Array Array::Rows(int64_t begin, int64_t end) const {
  Array rows = *this;
  const int64_t row_values = NumValues(std::span(shape_).subspan(1));
  rows.shape_[0] = end - begin;
  rows.num_values_ = (end - begin) * row_values;
  if (data_ != nullptr)
    rows.data_ = data_ + static_cast<size_t>(begin * row_values) * DTypeSize(dtype_);
  return rows;
}

Array Array::Reshaped(Shape shape) const {
  Array reshaped = *this;
  reshaped.shape_ = std::move(shape);
  return reshaped;
}

std::string Array::ToString() const {
  return std::string(DTypeName(dtype_)) + ShapeToString(shape_);
}

bool SameBytes(const Array& a, const Array& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.num_bytes() == 0 || std::memcmp(a.data(), b.data(), a.num_bytes()) == 0);
}

}  // namespace stoker
