// Paths that do not name files of this machine.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// What the paths of files on servers begin with. Each has a row in the table of stores
// (io/remote/remote_stores_internal.h).
inline constexpr std::string_view kRemoteSchemes[] = {"http://", "https://",   "s3://",
                                                      "gs://",   "webhdfs://", "swebhdfs://"};

// Whether `path` names a file on a server (io/remote).
inline bool IsRemotePath(std::string_view path) {
  for (const std::string_view scheme : kRemoteSchemes) {
    if (path.starts_with(scheme)) return true;
  }
  return false;
}

// For messages: "http://, https://, ... or swebhdfs://".
std::string RemoteSchemesText();

// `text` as it may be printed, logged or stored: of every http:// and https:// address in it, the
// user and password are left out, and what follows the `?` is "...", since it may be a secret too.
// An address ends at a blank, a quote, a control character or one of <>\. Idempotent.
std::string WithoutSecrets(std::string_view text);

// Whether `path` names what is piped into this process (io/standard_input.h).
inline bool IsStandardInput(std::string_view path) { return path == "-" || path == "/dev/stdin"; }

}  // namespace stoker
