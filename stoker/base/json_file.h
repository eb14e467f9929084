// JSON that is stored, and what it is compared with.
#pragma once

#include <string>

#include "stoker/base/json.h"
#include "stoker/base/json_text.h"

namespace stoker {

// The text of a file for people and programs: indented, with a line break at its end. Bytes that
// are no UTF-8 become U+FFFD, as with DumpJson.
inline std::string JsonFileText(const Json& json) {
  return json.dump(/*indent=*/2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The value as it is read again from where it was stored. What is compared with something stored
// goes through this first: names of files need be no UTF-8.
inline Json AsStoredJson(const Json& json) { return Json::parse(DumpJson(json)); }

}  // namespace stoker
