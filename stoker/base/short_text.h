// Shortens a value of a user or a file for a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker {

// Returns `text` if it has at most `most` bytes, else its beginning, cut between two characters of
// UTF-8, and its length: "aaaa... (5000 bytes)". `most` >= 4.
std::string ShortText(std::string_view text, size_t most = 120);

}  // namespace stoker
