// Requests for texts: pages of lists, states of files, tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/io/remote/remote_request.h"

namespace stoker::internal {

inline constexpr size_t kMostListBytes = 8 << 20;  // of a page; those of stores have 1,000 names

// Returns the body of the answer to a request with `query` (RemoteRequest::query). Errors: those of
// AskServer; kUnavailable, which calls it `what`, if it is longer than `most` bytes.
Result<std::string> AskForText(const HttpDialect& dialect, const RemoteAccess& access,
                               std::string query, size_t most, std::string_view what);

// Returns such a text parsed by `parse`, a Result<T>(std::string_view); its errors get the name of
// the location.
template <typename Parse>
auto AskAndParse(const HttpDialect& dialect, const RemoteAccess& access, std::string query,
                 size_t most, std::string_view what, const Parse& parse)
    -> decltype(parse(std::string_view())) {
  STOKER_ASSIGN_OR_RETURN(const std::string text,
                          AskForText(dialect, access, std::move(query), most, what));
  auto parsed = parse(text);
  if (parsed.ok()) return parsed;
  return Status(parsed.status().code(),
                fmt::format("{}: {}", access.location.name, parsed.status().message()));
}

}  // namespace stoker::internal
