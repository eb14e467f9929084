// JSON for files.
#pragma once

#include <string>

#include "stoker/base/json.h"
#include "stoker/base/json_text.h"

namespace stoker {

// Returns the text of a file: indented, with a line break at its end. Bytes that are not UTF-8
// become U+FFFD, as with DumpJson.
inline std::string JsonFileText(const Json& json) {
  return json.dump(/*indent=*/2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Returns the value as it reads after being stored. Apply it before comparing with a stored value,
// because names of files need not be UTF-8.
inline Json AsStoredJson(const Json& json) { return Json::parse(DumpJson(json)); }

}  // namespace stoker
