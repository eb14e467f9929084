#include "stoker/data/transforms/warp_array_internal.h"

#include <cstring>

namespace stoker {
namespace {

// Planes of one image that get the same fill.
struct Planes {
  const std::byte* in;
  ImageShape shape;
  DType dtype;
  WarpSize size;  // of the result
  std::byte* out;
};

template <typename T>
void WarpValues(const Planes& planes, const FillValue& fill, const AffineMatrix& matrix) {
  T value;
  std::memcpy(&value, fill.bytes, sizeof(T));
  WarpBilinear(reinterpret_cast<const T*>(planes.in), planes.shape, matrix, value, planes.size,
               reinterpret_cast<T*>(planes.out));
}

void WarpPlanes(const Planes& planes, const FillValue& fill, const AffineMatrix& matrix,
                bool bilinear) {
  if (!bilinear) {
    WarpNearest(planes.in, planes.shape, DTypeSize(planes.dtype), matrix, fill.bytes, planes.size,
                planes.out);
  } else if (planes.dtype == DType::kUInt8) {
    WarpValues<uint8_t>(planes, fill, matrix);
  } else {
    WarpValues<float>(planes, fill, matrix);
  }
}

}  // namespace

Status CheckWarp(std::string_view who, const Spec& spec, const PairedFields& fields,
                 bool bilinear) {
  for (const PairedField& paired : fields) {
    const Field& field = spec.fields[paired.index];
    if (!bilinear || paired.is_mask || field.dtype == DType::kUInt8 ||
        field.dtype == DType::kFloat32)
      continue;
    return InvalidArgument(
        "{}: field '{}' is {}; bilinear takes uint8 or float32: take `interpolation: nearest`, or "
        "name the field under masks",
        who, field.name, DTypeName(field.dtype));
  }
  return OkStatus();
}

void WarpArray(const Array& from, const PairedField& field, const AffineMatrix& matrix,
               bool bilinear, Array& to, std::span<const FillValue> fills) {
  const ImageShape result = ImageShapeOf(to);
  Planes planes{.in = from.data(),
                .shape = ImageShapeOf(from),
                .dtype = from.dtype(),
                .size = {result.height, result.width},
                .out = to.data()};
  const bool mix = bilinear && !field.is_mask;
  if (fills.size() < 2)
    return WarpPlanes(planes, fills.empty() ? field.fill : fills.front(), matrix, mix);
  planes.shape.channels = 1;
  for (const FillValue& fill : fills) {
    WarpPlanes(planes, fill, matrix, mix);
    planes.in += static_cast<size_t>(planes.shape.num_values()) * DTypeSize(planes.dtype);
    planes.out += static_cast<size_t>(result.height * result.width) * DTypeSize(planes.dtype);
  }
}

}  // namespace stoker
