#include "stoker/data/core/fill_value.h"

#include <cstring>

#include "stoker/image/cast.h"

namespace stoker {

Result<FillValue> MakeFillValue(std::string_view who, std::string_view option, double value,
                                const Field& field) {
  FillValue fill;
  CastValues(DType::kFloat64, reinterpret_cast<const std::byte*>(&value), 1, field.dtype,
             fill.bytes);
  double back = 0;
  CastValues(field.dtype, fill.bytes, 1, DType::kFloat64, reinterpret_cast<std::byte*>(&back));
  // The largest int64 and the number after it are one number as doubles.
  const bool beyond_int64 = field.dtype == DType::kInt64 && value >= 0x1p63;
  if (beyond_int64 || (!IsFloating(field.dtype) && back != value)) {
    return InvalidArgument(
        "{}: {} is {}, which {} of field '{}' cannot hold; choose another, or change the field's "
        "dtype in front (cast, normalize)",
        who, option, value, DTypeName(field.dtype), field.name);
  }
  return fill;
}

void Fill(const FillValue& value, size_t value_size, size_t n, std::byte* out) {
  for (size_t i = 0; i < n; ++i) std::memcpy(out + i * value_size, value.bytes, value_size);
}

}  // namespace stoker
