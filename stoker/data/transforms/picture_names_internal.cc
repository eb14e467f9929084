#include "stoker/data/transforms/picture_names_internal.h"

#include <fmt/format.h>

namespace stoker {

PictureNames::PictureNames(const Dataset& input, size_t field)
    : field_(input.spec().fields[field].name), source_(FindSampleNames(input)) {
  const std::vector<Field>& fields = input.spec().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].dtype != DType::kUInt8 || fields[i].shape.size() != 1) continue;
    if (fields[i].name == "path") path_field_ = i;
    if (fields[i].name == "key") key_field_ = i;
  }
}

std::string PictureNames::NameOf(const Element& element) const {
  const auto text_of = [&](size_t field) {
    const Array& text = element.arrays[field];
    return std::string_view(reinterpret_cast<const char*>(text.data()), text.num_bytes());
  };
  std::string name = source_ ? source_->NameOfKey(element.key, field_) : "";
  if (name.empty() && path_field_) name = text_of(*path_field_);
  if (name.empty()) name = fmt::format("element {}", element.key.index);
  if (key_field_) name += fmt::format(": '{}'", text_of(*key_field_));
  return name;
}

}  // namespace stoker
