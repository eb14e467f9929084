#include "stoker/data/core/field_option.h"

#include <fmt/format.h>

#include <set>

namespace stoker {

Result<size_t> IndexOfOption(const Spec& spec, std::string_view who, std::string_view option,
                             std::string_view name) {
  Result<size_t> index = spec.IndexOf(who, name);
  if (index.ok() || index.status().message().ends_with('?')) return index;
  return Status(index.status().code(),
                fmt::format("{}; say which it is with `{}:`", index.status().message(), option));
}

std::string_view RepeatedName(const Spec& spec) {
  std::set<std::string_view> names;
  for (const Field& field : spec.fields) {
    if (!names.insert(field.name).second) return field.name;
  }
  return {};
}

}  // namespace stoker
