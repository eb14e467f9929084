// The text of answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/http/message.h"

namespace stoker {

struct ResponseForm {
  std::optional<uint64_t> length;  // of the body; nothing: it is sent piece by piece
  bool chunked = false;            // the pieces are; else the connection's end is the body's
  bool keep_alive = true;
};

// Returns status line and headers of `response`, up to the empty line. A further header whose name
// or value could break out of its line is left out. Unless the response says otherwise, nobody may
// store it, show it in a frame, or guess another type for it, and a page may load nothing.
std::string HeadText(const HttpResponse& response, const ResponseForm& form);

// Returns one piece of a chunked body (RFC 9112, 7.1). An empty piece would end the body, so it is
// none.
std::string ChunkText(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace stoker
