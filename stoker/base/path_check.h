// What no path may have in it.
#pragma once

#include <string_view>

#include "stoker/base/short_text.h"
#include "stoker/base/status.h"

namespace stoker {

// Calls of the system end a path at its first zero byte, and would open what the part before it
// names. Errors: kInvalidArgument.
inline Status CheckNoZeroByte(std::string_view path) {
  if (path.find('\0') == path.npos) return OkStatus();
  return InvalidArgument("{}: there is a zero byte in it, where a path ends; correct it",
                         ShortText(path));
}

}  // namespace stoker
