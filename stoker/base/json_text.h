// JSON as text on one line. JSON is UTF-8, which paths and what files hold need not be: bytes that
// are not become U+FFFD, where Json::dump would throw.
#pragma once

#include <string>

#include "stoker/base/json.h"

namespace stoker {

inline std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace stoker
