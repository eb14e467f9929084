// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), computed by libcrypto: for signatures and
// names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(std::string_view bytes);
// `key`: below 2 GiB.
Sha256Digest HmacSha256(std::string_view key, std::string_view bytes);

// Returns the digest in hexadecimal, in lower case.
std::string HexOf(const Sha256Digest& digest);

}  // namespace stoker
