#include "stoker/data/nodes/packed_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "stoker/formats/array_bytes.h"
#include "stoker/formats/npy/npy.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little, "values are used as they lie");

bool Fits(const ElementField& field, const Array& array) {
  return array.dtype() == field.dtype && array.shape().size() == field.shape.size() &&
         std::ranges::equal(array.shape(), field.shape, [](int64_t extent, int64_t wanted) {
           return wanted == kUnknownDim || extent == wanted;
         });
}

// The field's shape with what `bytes` bytes say of its unknown extent, if it has one; nothing if
// they are not so many values.
std::optional<Shape> ShapeOf(const ElementField& field, uint64_t bytes) {
  Shape shape = field.shape;
  std::ranges::replace(shape, kUnknownDim, 1);
  const uint64_t step = *ArrayBytes(field.dtype, shape);
  const auto unknown = std::ranges::find(field.shape, kUnknownDim);
  if (unknown == field.shape.end()) return bytes == step ? std::optional(shape) : std::nullopt;
  if (bytes % step != 0) return std::nullopt;
  shape[static_cast<size_t>(unknown - field.shape.begin())] = static_cast<int64_t>(bytes / step);
  return shape;
}

Array Copied(const ElementField& field, Shape shape, std::span<const std::byte> bytes,
             Scratch& scratch) {
  Array array = scratch.NewArray(field.dtype, std::move(shape));
  if (!bytes.empty()) std::memcpy(array.data(), bytes.data(), bytes.size());
  return array;
}

}  // namespace

std::string PackedKey(int64_t element, std::string_view field) {
  return fmt::format("{:012}/{}", element, field);
}

bool IsPackedAsNpy(const ElementField& field) {
  const auto unknown = std::ranges::count(field.shape, kUnknownDim);
  return unknown > 1 || (unknown == 1 && std::ranges::count(field.shape, 0) > 0);
}

Status AppendPackedValue(const ElementField& field, const Array& value, std::string& out) {
  if (IsPackedAsNpy(field)) {
    STOKER_ASSIGN_OR_RETURN(const std::string header,
                            NpyHeaderOf(value.dtype(), value.shape(), field.name));
    out += header;
  }
  out.append(reinterpret_cast<const char*>(value.data()), value.num_bytes());
  return OkStatus();
}

Result<Array> ParsePackedValue(const ElementField& field, const Buffer& owner,
                               std::span<const std::byte> bytes, const std::string& name,
                               Scratch& scratch) {
  if (IsPackedAsNpy(field)) {
    STOKER_ASSIGN_OR_RETURN(Array array, ParseNpy(owner, bytes, name));
    if (Fits(field, array)) return array;
    return DataLoss("{}: it is {}{}, packed were {}{}; pack it again", name,
                    DTypeName(array.dtype()), ShapeToString(array.shape()), DTypeName(field.dtype),
                    ShapeToString(field.shape));
  }
  std::optional<Shape> shape = ShapeOf(field, bytes.size());
  if (!shape) {
    return DataLoss("{}: it has {} bytes, which is no {}{}; pack it again", name, bytes.size(),
                    DTypeName(field.dtype), ShapeToString(field.shape));
  }
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % DTypeSize(field.dtype) == 0;
  if (!aligned || bytes.empty()) return Copied(field, *std::move(shape), bytes, scratch);
  return Array(owner, field.dtype, *std::move(shape),
               static_cast<size_t>(bytes.data() - owner.data()));
}

}  // namespace stoker
