#include "stoker/io/sha256.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

namespace stoker {
namespace {

const uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest;
  SHA256(BytesOf(bytes), bytes.size(), digest.data());
  return digest;
}

Sha256Digest HmacSha256(std::string_view key, std::string_view bytes) {
  Sha256Digest digest;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), BytesOf(bytes), bytes.size(),
       digest.data(), /*md_len=*/nullptr);
  return digest;
}

std::string HexOf(const Sha256Digest& digest) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace stoker
