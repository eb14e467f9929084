// The token that a server asks for: where it comes from, and how a request shows it.
//
// It is secret: no message, log or URL holds it.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/sha256.h"

namespace stoker {

// Shorter ones could be guessed.
inline constexpr size_t kShortestToken = 16;
inline constexpr size_t kLongestToken = 1024;

// Returns the token in the first line of `text`. Errors: kInvalidArgument if it has not 16 to 1024
// of the characters that the header Authorization may carry (RFC 6750): letters, digits, -._~+/=.
//   where  what messages call the text: a file or a variable
Result<std::string> ParseToken(std::string_view text, std::string_view where);

// Reads it from a file. Errors: also those of reading.
Result<std::string> ReadTokenFile(const std::string& path);

// Knows whether a request shows the token, in a time that tells nothing of how much of it was
// right. Thread-safe.
class TokenCheck {
 public:
  explicit TokenCheck(std::string_view token) : digest_(Sha256(token)) {}

  //   authorization  the header of the request: "Bearer TOKEN"
  bool Passes(std::string_view authorization) const;

 private:
  Sha256Digest digest_;
};

}  // namespace stoker
