#include "stoker/io/remote/sigv4.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "stoker/io/sha256.h"

namespace stoker {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string_view TextOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string SigningKeyOf(std::string_view day, const SigV4Scope& scope,
                         const AwsCredentials& credentials) {
  std::string key = "AWS4" + credentials.secret_access_key;
  for (const std::string_view part :
       {day, std::string_view(scope.region), scope.service, std::string_view("aws4_request")})
    key = TextOf(HmacSha256(key, part));
  return key;
}

}  // namespace

std::string AwsTime(int64_t time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::string SigV4Authorization(const SigV4Request& request, const SigV4Scope& scope,
                               const AwsCredentials& credentials) {
  auto headers = request.headers;
  std::ranges::sort(headers);
  std::string names, lines;
  for (const auto& [name, value] : headers) {
    if (!names.empty()) names += ';';
    names += name;
    lines += fmt::format("{}:{}\n", name, value);
  }
  const std::string canonical = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                                            request.query, lines, names, request.payload_sha256);
  const std::string time = AwsTime(scope.time);
  const std::string day = time.substr(0, time.find('T'));
  const std::string within = fmt::format("{}/{}/{}/aws4_request", day, scope.region, scope.service);
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, within, HexOf(Sha256(canonical)));
  const std::string signature = HexOf(HmacSha256(SigningKeyOf(day, scope, credentials), to_sign));
  return fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm,
                     credentials.access_key_id, within, names, signature);
}

}  // namespace stoker
