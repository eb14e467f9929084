#include "stoker/data/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stoker {

std::string Field::ToString() const {
  return fmt::format("{}: {}{}", name, DTypeName(dtype), ShapeToString(shape));
}

Result<size_t> Spec::IndexOf(std::string_view who, std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
  }
  return InvalidArgument("{}: there is no field '{}'; the elements are {}", who, name, ToString());
}

std::optional<int64_t> Spec::ElementBytes() const {
  int64_t bytes = 0;
  for (const Field& field : fields) {
    int64_t field_bytes = static_cast<int64_t>(DTypeSize(field.dtype));
    for (const int64_t extent : field.shape) {
      if (extent == kUnknownDim || __builtin_mul_overflow(field_bytes, extent, &field_bytes)) {
        return std::nullopt;
      }
    }
    if (__builtin_add_overflow(bytes, field_bytes, &bytes)) return std::nullopt;
  }
  return bytes;
}

std::string Spec::ToString() const {
  std::vector<std::string> texts;
  for (const Field& field : fields) texts.push_back(field.ToString());
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

}  // namespace stoker
