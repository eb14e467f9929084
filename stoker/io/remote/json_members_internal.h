// Access to untrusted JSON of a store, whose members may be missing or of another type.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "stoker/base/json.h"

namespace stoker::internal {

// Returns the parsed text; a discarded value (Json::is_discarded) if it is not JSON, or is nested
// deeper or has more values than an answer has. So the memory it takes is bounded whatever the
// text.
Json ParseAnswer(std::string_view text);

// The same, but the elements of the arrays at `lists`, such as "FileStatuses/FileStatus", are
// handed to `take`, with the array's place there, as they are parsed. They are not kept and do not
// count, so a list may be long; in what is returned these arrays are empty. If `take` returns
// false, the result is discarded.
using TakeListed = std::function<bool(std::string_view list, const Json& element)>;
Json ParseAnswer(std::string_view text, std::initializer_list<std::string_view> lists,
                 const TakeListed& take);

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
