#include "stoker/data/core/row_arrays.h"

#include <cstring>

namespace stoker {
namespace {

// To take a block costs more than to parse a number. No field holds more memory in this way than
// with a block of its own, and what a stage drops costs those that it keeps little.
constexpr int64_t kMostOfAField = kBufferAlignment, kMostOfABlock = 1024;
constexpr int64_t kAlignmentInABlock = 8;

// What the field takes of a shared block; 0: it has one of its own, or none.
int64_t SharedBytes(const Field& field) {
  if (!IsFullyKnown(field.shape)) return 0;
  const int64_t values = NumValues(field.shape);
  if (values > kMostOfAField) return 0;
  const int64_t bytes = values * static_cast<int64_t>(DTypeSize(field.dtype));
  return bytes > kMostOfAField
             ? 0
             : (bytes + kAlignmentInABlock - 1) / kAlignmentInABlock * kAlignmentInABlock;
}

}  // namespace

std::vector<Array> RoomForFields(const std::vector<Field>& fields, Scratch& scratch) {
  int64_t all = 0;
  for (const Field& field : fields) all += SharedBytes(field);
  const bool share = all > 0 && all <= kMostOfABlock;
  const Buffer block = share ? scratch.NewArray(DType::kUInt8, {all}).buffer() : Buffer();
  size_t at = 0;
  std::vector<Array> arrays;
  arrays.reserve(fields.size());
  for (const Field& field : fields) {
    const int64_t bytes = share ? SharedBytes(field) : 0;
    if (bytes > 0) {
      arrays.emplace_back(block, field.dtype, field.shape, at);
      at += static_cast<size_t>(bytes);
    } else {
      arrays.push_back(IsFullyKnown(field.shape) ? scratch.NewArray(field.dtype, field.shape)
                                                 : Array());
    }
  }
  return arrays;
}

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
