// Access to untrusted JSON of a store, whose members may be missing or of another type.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/json.h"

namespace stoker::internal {

// Returns a discarded value (Json::is_discarded) if the text is not JSON.
inline Json ParseAnswer(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Returns the member of an object; null if there is none, or `object` is not an object.
inline const Json& Member(const Json& object, const char* key) {
  static const Json& none = *new Json;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// Returns the text of a member; empty if it is missing or not a text.
inline std::string TextOf(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

}  // namespace stoker::internal
