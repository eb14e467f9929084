// Returns JSON as text on one line. Bytes that are not UTF-8, such as those of a path, become
// U+FFFD; Json::dump would throw.
#pragma once

#include <string>

#include "stoker/base/json.h"

namespace stoker {

inline std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stoker
