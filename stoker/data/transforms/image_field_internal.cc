#include "stoker/data/transforms/image_field_internal.h"

namespace stoker {

Result<size_t> FindImageField(std::string_view who, const Spec& spec, std::string_view name) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, spec.IndexOf(who, name));
  const Field& field = spec.fields[index];
  if (field.shape.size() == 3) return index;
  std::string cure;
  if (field.shape.size() > 3) cure = fmt::format(": put {} before batch", who);
  // The bytes of a file.
  if (field.dtype == DType::kUInt8 && field.shape.size() == 1)
    cure = fmt::format(": put decode before {}", who);
  return InvalidArgument("{}: field '{}' has shape {}; it must be [channels, height, width]{}", who,
                         name, ShapeToString(field.shape), cure);
}

ImageShape ImageShapeOf(const Array& array) {
  const auto last = array.shape().end();
  return {.channels = last[-3], .height = last[-2], .width = last[-1]};
}

}  // namespace stoker
