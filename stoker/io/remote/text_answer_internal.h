// Answers that are texts: pages of lists, states of files, tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stoker/io/remote/remote_request.h"

namespace stoker::internal {

inline constexpr size_t kMostListBytes = 8 << 20;  // of a page; those of stores have 1,000 names

// The body of the answer to a request with `query` (RemoteRequest::query). Errors: those of
// AskServer; kUnavailable where it is longer than `most` bytes, which calls it `what`.
Result<std::string> AskForText(const HttpDialect& dialect, const RemoteAccess& access,
                               std::string query, size_t most, std::string_view what);

}  // namespace stoker::internal
