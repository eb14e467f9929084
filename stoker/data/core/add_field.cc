#include "stoker/data/core/add_field.h"

#include <algorithm>

namespace stoker {

Status AddField(std::string_view who, Field field, Spec& spec) {
  if (field.name.empty())
    return InvalidArgument("{}: the field that it adds has no name; give it one", who);
  if (std::ranges::find(spec.fields, field.name, &Field::name) != spec.fields.end()) {
    return InvalidArgument(
        "{}: it adds a field '{}', but the elements have one of that name: {}; choose another", who,
        field.name, spec.ToString());
  }
  spec.fields.push_back(std::move(field));
  return OkStatus();
}

}  // namespace stoker
