#include "stoker/http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "stoker/base/short_text.h"

namespace stoker {
namespace {

constexpr size_t kLongestName = 253;  // RFC 1035

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return port;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool IsName(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, is_letter);
}

Status NoAddress(std::string_view text) {
  return InvalidArgument(
      "'{}' is no address; write a port, as 9090, or HOST:PORT, as 127.0.0.1:9090 or [::1]:9090 "
      "(port 0: any free one)",
      ShortText(text));
}

// "HOST", "HOST:PORT", "[IPV6]" or "[IPV6]:PORT".
struct HostAndPort {
  std::string_view host;
  std::optional<std::string_view> port;
};
std::optional<HostAndPort> Split(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == text.npos) return std::nullopt;
    const std::string_view host = text.substr(1, close - 1), rest = text.substr(close + 1);
    // Brackets are for IPv6 alone.
    if (host.find(':') == host.npos || !IsIpAddress(host)) return std::nullopt;
    if (rest.empty()) return HostAndPort{host, std::nullopt};
    if (!rest.starts_with(':')) return std::nullopt;
    return HostAndPort{host, rest.substr(1)};
  }
  const size_t colon = text.find(':');
  if (colon == text.npos) return HostAndPort{text, std::nullopt};
  return HostAndPort{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

Result<HttpAddress> ParseHttpAddress(std::string_view text) {
  HttpAddress address;
  const std::optional<uint16_t> alone = ParsePort(text);
  if (alone) {
    address.port = *alone;
    return address;
  }
  const std::optional<HostAndPort> parts = Split(text);
  if (!parts || !parts->port) return NoAddress(text);
  const std::optional<uint16_t> port = ParsePort(*parts->port);
  if (!port) return NoAddress(text);
  if (!parts->host.empty()) {
    if (!IsIpAddress(parts->host) && !IsName(parts->host)) return NoAddress(text);
    address.host = parts->host;
  }
  address.port = *port;
  return address;
}

bool IsIpAddress(std::string_view host) {
  const std::string text(host);
  if (text.find('\0') != text.npos) return false;
  in_addr four = {};
  in6_addr six = {};
  return ::inet_pton(AF_INET, text.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), &six) == 1;
}

bool IsLoopback(std::string_view host) {
  const std::string text(host);
  if (text.find('\0') != text.npos) return false;
  in_addr four = {};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six = {};
  if (::inet_pton(AF_INET6, text.c_str(), &six) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&six)) return six.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&six);
}

std::string HttpUrl(std::string_view host, uint16_t port) {
  return host.find(':') == host.npos ? fmt::format("http://{}:{}/", host, port)
                                     : fmt::format("http://[{}]:{}/", host, port);
}

HttpNames::HttpNames(std::string_view bound, std::vector<std::string> names)
    : only_loopback_(IsLoopback(bound)) {
  for (const std::string& name : names) names_.push_back(LowerCase(name));
}

bool HttpNames::Allows(std::string_view host) const {
  const std::optional<HostAndPort> parts = Split(host);
  if (!parts || parts->host.empty()) return false;
  if (parts->port && !ParsePort(*parts->port)) return false;
  if (IsIpAddress(parts->host)) return !only_loopback_ || IsLoopback(parts->host);
  std::string name = LowerCase(parts->host);
  if (name.ends_with('.')) name.pop_back();
  if (!IsName(name)) return false;
  return name == "localhost" || name.ends_with(".localhost") ||
         std::ranges::find(names_, name) != names_.end();
}

}  // namespace stoker
