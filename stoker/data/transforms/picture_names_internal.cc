#include "stoker/data/transforms/picture_names_internal.h"

#include <fmt/format.h>

namespace stoker {

PictureNames::PictureNames(const Dataset& input, size_t field)
    : field_(input.spec().fields[field].name), source_(FindSampleNames(input)) {
  const std::vector<Field>& fields = input.spec().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == "path" && fields[i].dtype == DType::kUInt8 && fields[i].shape.size() == 1)
      path_field_ = i;
  }
}

std::string PictureNames::NameOf(const Element& element) const {
  std::string name = source_ ? source_->NameOf(element.key.index, field_) : "";
  if (name.empty() && path_field_) {
    const Array& path = element.arrays[*path_field_];
    name.assign(reinterpret_cast<const char*>(path.data()), path.num_bytes());
  }
  return name.empty() ? fmt::format("element {}", element.key.index) : name;
}

}  // namespace stoker
