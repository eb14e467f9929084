// The members of a store's JSON, of which anything may be missing or of another type.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/json.h"

namespace stoker::internal {

// Discarded (Json::is_discarded) where the text is no JSON.
inline Json ParseAnswer(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The member of an object; null where there is none, or `object` is no object.
inline const Json& Member(const Json& object, const char* key) {
  static const Json& none = *new Json;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// Empty where it is not there or is no text.
inline std::string TextOf(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace stoker::internal
