// Paths that do not name files of this machine.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// The beginnings of paths of files on servers. Each has a row in the table of stores
// (io/remote/remote_stores_internal.h).
inline constexpr std::string_view kRemoteSchemes[] = {"http://", "https://",   "s3://",
                                                      "gs://",   "webhdfs://", "swebhdfs://"};

// Returns the one of kRemoteSchemes with which `path` begins, in small or capital letters (RFC
// 3986, section 3.1); empty if it names a file of this machine.
std::string_view RemoteSchemeOf(std::string_view path);

// Returns whether `path` names a file on a server (io/remote).
inline bool IsRemotePath(std::string_view path) { return !RemoteSchemeOf(path).empty(); }

// Returns, for messages, "http://, https://, ... or swebhdfs://".
std::string RemoteSchemesText();

// Returns `text` as it may be printed, logged or stored: in addresses of kRemoteSchemes the user
// and password are removed, and a query (of HTTP, or with parameters of WebHDFS) becomes "?...": it
// may be secret too. They end at a blank, a quote, a control character or one of <>\. Idempotent.
std::string WithoutSecrets(std::string_view text);

// Returns true if `path` names this process's standard input (io/standard_input.h).
inline bool IsStandardInput(std::string_view path) { return path == "-" || path == "/dev/stdin"; }

}  // namespace stoker
