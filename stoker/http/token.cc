#include "stoker/http/token.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "stoker/io/file.h"

namespace stoker {
namespace {

constexpr uint64_t kMostFileBytes = 64 << 10;

bool IsOfToken(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c - 0; };
    return lower(x) == lower(y);
  });
}

}  // namespace

Result<std::string> ParseToken(std::string_view text, std::string_view where) {
  std::string_view line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.size() < kShortestToken || line.size() > kLongestToken ||
      !std::ranges::all_of(line, IsOfToken)) {
    return InvalidArgument(
        "{}: holds no token: its first line has {} bytes, and a token has {} to {} letters, digits "
        "or characters of -._~+/=; `openssl rand -hex 32` makes one",
        where, line.size(), kShortestToken, kLongestToken);
  }
  return std::string(line);
}

Result<std::string> ReadTokenFile(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostFileBytes));
  return ParseToken(text, path);
}

bool TokenCheck::Passes(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer";
  if (authorization.size() <= kScheme.size() + 1 ||
      !EqualIgnoringCase(authorization.substr(0, kScheme.size()), kScheme)) {
    return false;
  }
  std::string_view given = authorization.substr(kScheme.size());
  if (!given.starts_with(' ')) return false;
  given.remove_prefix(std::min(given.find_first_not_of(' '), given.size()));
  // Of digests, so that neither the length nor a common beginning shows.
  const Sha256Digest digest = Sha256(given);
  return CRYPTO_memcmp(digest.data(), digest_.data(), digest_.size()) == 0;
}

}  // namespace stoker
