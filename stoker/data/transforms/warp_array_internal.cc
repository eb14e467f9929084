#include "stoker/data/transforms/warp_array_internal.h"

#include <cstring>

namespace stoker {
namespace {

template <typename T>
void WarpValues(const Array& from, const FillValue& fill, const AffineMatrix& matrix, Array& to) {
  T value;
  std::memcpy(&value, fill.bytes, sizeof(T));
  WarpBilinear(from.values<T>().data(), ImageShapeOf(from), matrix, value, to.values<T>().data());
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
               bool bilinear, Array& to) {
  if (!bilinear || field.is_mask) {
    WarpNearest(from.data(), ImageShapeOf(from), DTypeSize(from.dtype()), matrix, field.fill.bytes,
                to.data());
  } else if (from.dtype() == DType::kUInt8) {
    WarpValues<uint8_t>(from, field.fill, matrix, to);
  } else {
    WarpValues<float>(from, field.fill, matrix, to);
  }
}

}  // namespace stoker
