// The target of a request: what stands between its method and its version.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

struct RequestTarget {
  std::string authority;  // "host:80" of an absolute target; empty: it has none
  std::string path;       // begins with '/'; percent-encoding is undone
  std::string query;      // what follows '?', as it was sent
};

// Parses "/path?query" or "http://host/path?query" (RFC 9112, 3.2). The path is compared with those
// of routes as a whole and names no file, so "." and ".." have no meaning in it. Errors:
// kInvalidArgument for any other form, for an escape that is none, and for a control character,
// also an escaped one.
Result<RequestTarget> ParseRequestTarget(std::string_view target);

}  // namespace stoker
