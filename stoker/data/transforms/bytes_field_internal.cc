#include "stoker/data/transforms/bytes_field_internal.h"

#include <string>

namespace stoker {

Result<size_t> BytesField(const Dataset& input, std::string_view op, std::string_view field) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, input.spec().IndexOf(op, std::string(field)));
  const Field& found = input.spec().fields[index];
  if (found.dtype == DType::kUInt8 && found.shape.size() == 1) return index;
  return InvalidArgument("{}: field '{}' is {}{}; it must be uint8[?], bytes as they were stored{}",
                         op, found.name, DTypeName(found.dtype), ShapeToString(found.shape),
                         found.shape.size() == 2 ? fmt::format(": put {} before batch", op) : "");
}

}  // namespace stoker
