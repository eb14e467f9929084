// Paths that do not name files of this machine.
#pragma once

#include <string_view>

namespace stoker {

// Whether `path` names a file on a server (io/remote): it begins with http://, https:// or s3://.
inline bool IsRemotePath(std::string_view path) {
  return path.starts_with("http://") || path.starts_with("https://") || path.starts_with("s3://");
}

// Whether `path` names what is piped into this process (io/standard_input.h).
inline bool IsStandardInput(std::string_view path) { return path == "-" || path == "/dev/stdin"; }

}  // namespace stoker
