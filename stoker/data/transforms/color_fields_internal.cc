#include "stoker/data/transforms/color_fields_internal.h"

namespace stoker {
namespace {

bool HasColors(int64_t channels) { return channels == 1 || channels == 3; }

}  // namespace

Result<PairedFields> FindColorFields(std::string_view who, const Spec& spec,
                                     const PairedNames& names) {
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(who, spec, names));
  for (const PairedField& paired : fields) {
    const Field& field = spec.fields[paired.index];
    if (paired.is_mask) continue;
    if (field.dtype != DType::kUInt8) {
      return InvalidArgument(
          "{}: field '{}' is {}; it must be uint8: put {} before normalize and cast", who,
          field.name, DTypeName(field.dtype), who);
    }
    if (field.shape[0] != kUnknownDim && !HasColors(field.shape[0])) {
      return InvalidArgument(
          "{}: field '{}' has shape {}; it must have 1 channel (grey) or 3 (red, green, blue)", who,
          field.name, ShapeToString(field.shape));
    }
  }
  return fields;
}

Status CheckColorChannels(std::string_view who, const ImageShape& shape) {
  if (HasColors(shape.channels)) return OkStatus();
  return InvalidArgument("{}: an image of {} channels; it must have 1 (grey) or 3 (colour)", who,
                         shape.channels);
}

}  // namespace stoker
