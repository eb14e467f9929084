#include "stoker/http/content_policy.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "stoker/io/sha256.h"

namespace stoker {

std::string HashSource(std::string_view text) {
  const Sha256Digest digest = Sha256(text);
  std::array<unsigned char, 45> base64 = {};  // 44 letters of 32 bytes, and the end
  ::EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return fmt::format("'sha256-{}'", reinterpret_cast<const char*>(base64.data()));
}

std::string SelfContainedPolicy(std::string_view style, std::string_view script) {
  std::string policy = fmt::format("default-src 'none'; style-src {}", HashSource(style));
  if (!script.empty())
    policy += fmt::format("; script-src {}; connect-src 'self'", HashSource(script));
  return policy + "; base-uri 'none'; form-action 'none'";
}

}  // namespace stoker
