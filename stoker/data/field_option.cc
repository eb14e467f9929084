#include "stoker/data/field_option.h"

#include <fmt/format.h>

namespace stoker {

Result<size_t> IndexOfOption(const Spec& spec, std::string_view who, std::string_view option,
                             std::string_view name) {
  Result<size_t> index = spec.IndexOf(who, name);
  if (index.ok()) return index;
  return Status(index.status().code(),
                fmt::format("{}; say which it is with `{}:`", index.status().message(), option));
}

}  // namespace stoker
