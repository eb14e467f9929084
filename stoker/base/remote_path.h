// Paths that do not name files of this machine.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// Whether `path` names a file on a server (io/remote): it begins with http://, https:// or s3://.
inline bool IsRemotePath(std::string_view path) {
  return path.starts_with("http://") || path.starts_with("https://") || path.starts_with("s3://");
}

// `text` as it may be printed, logged or stored: of every http:// and https:// address in it, the
// user and password are left out, and what follows the `?` is "...", since it may be a secret too.
// An address ends at a blank, a quote, a control character or one of <>\. Idempotent.
std::string WithoutSecrets(std::string_view text);

// Whether `path` names what is piped into this process (io/standard_input.h).
inline bool IsStandardInput(std::string_view path) { return path == "-" || path == "/dev/stdin"; }

}  // namespace stoker
