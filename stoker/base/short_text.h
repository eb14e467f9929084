// What a message quotes of a value that a user or a file has given.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker {

// `text` itself up to `most` bytes; of a longer one its beginning, cut between two characters of
// UTF-8, and its length: "aaaa... (5000 bytes)". `most` >= 4.
std::string ShortText(std::string_view text, size_t most = 120);

}  // namespace stoker
