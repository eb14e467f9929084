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

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return text;
}

// "NAME=VALUE&..." by name, then by value; one without a value gets an empty one.
std::string CanonicalQuery(std::string_view query) {
  if (query.empty()) return "";
  Pairs parameters;
  for (size_t begin = 0; begin <= query.size();) {
    const std::string_view one = query.substr(begin, query.find('&', begin) - begin);
    begin += one.size() + 1;
    const size_t equals = std::min(one.find('='), one.size());
    parameters.emplace_back(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
  }
  std::ranges::sort(parameters);
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, value);
  return text;
}

// Without blanks at its ends, and with one where several follow each other.
std::string TrimmedValue(std::string_view value) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  std::string text;
  for (size_t at = 0; (at = value.find_first_not_of(kBlanks, at)) != value.npos;) {
    const size_t end = std::min(value.find_first_of(kBlanks, at), value.size());
    if (!text.empty()) text += ' ';
    text += value.substr(at, end - at);
    at = end;
  }
  return text;
}

// Names in lower case, sorted; what a name has more than once is joined by commas.
Pairs CanonicalHeaders(Pairs headers) {
  for (auto& [name, value] : headers) {
    name = LowerCase(std::move(name));
    value = TrimmedValue(value);
  }
  std::ranges::stable_sort(headers, {}, &Pairs::value_type::first);
  Pairs joined;
  for (auto& [name, value] : headers) {
    if (joined.empty() || joined.back().first != name) {
      joined.emplace_back(std::move(name), std::move(value));
    } else {
      joined.back().second += "," + value;
    }
  }
  return joined;
}

}  // namespace

std::string AwsTime(int64_t time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(static_cast<std::time_t>(time)));
}

std::string SigV4Authorization(const SigV4Request& request, const SigV4Scope& scope,
                               const AwsCredentials& credentials) {
  std::string names, lines;
  for (const auto& [name, value] : CanonicalHeaders(request.headers)) {
    if (!names.empty()) names += ';';
    names += name;
    lines += fmt::format("{}:{}\n", name, value);
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                  CanonicalQuery(request.query), lines, names, request.payload_sha256);
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
