#include "stoker/data/core/row_arrays.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

// To take a block costs more than to parse a number. A field that outlives the others of its block
// keeps all of it, four times what a block of its own would take at most.
constexpr int64_t kMostOfAField = kBufferAlignment, kMostOfABlock = 4 * kBufferAlignment;
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
  int64_t left = 0;  // of all fields that share
  for (const Field& field : fields) left += SharedBytes(field);
  Array block;        // of no bytes
  int64_t taken = 0;  // of the block
  std::vector<Array> arrays;
  arrays.reserve(fields.size());
  for (const Field& field : fields) {
    if (const int64_t bytes = SharedBytes(field); bytes > 0) {
      if (taken + bytes > block.num_values()) {
        block = scratch.NewArray(DType::kUInt8, {std::min(left, kMostOfABlock)});
        taken = 0;
      }
      arrays.emplace_back(block.buffer(), field.dtype, field.shape, static_cast<size_t>(taken));
      taken += bytes;
      left -= bytes;
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
