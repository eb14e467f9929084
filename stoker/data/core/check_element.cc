#include "stoker/data/core/check_element.h"

namespace stoker {
namespace {

bool Fits(const Field& field, const Array& array) {
  if (array.dtype() != field.dtype || array.shape().size() != field.shape.size()) return false;
  for (size_t d = 0; d < field.shape.size(); ++d) {
    if (field.shape[d] != kUnknownDim && field.shape[d] != array.shape()[d]) return false;
  }
  return true;
}

}  // namespace

Status CheckElement(std::string_view who, const Spec& spec, const Element& element) {
  if (element.arrays.size() != spec.fields.size()) {
    return InvalidArgument(
        "{}: element {} has {} fields, but its Spec is {}; make one array for each", who,
        element.key.index, element.arrays.size(), spec.ToString());
  }
  for (size_t f = 0; f < spec.fields.size(); ++f) {
    if (Fits(spec.fields[f], element.arrays[f])) continue;
    return InvalidArgument(
        "{}: element {}: field '{}' is {}, but its Spec says {}; correct the function or the Spec",
        who, element.key.index, spec.fields[f].name, element.arrays[f].ToString(),
        spec.fields[f].ToString());
  }
  return OkStatus();
}

}  // namespace stoker
