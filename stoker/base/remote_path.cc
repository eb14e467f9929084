#include "stoker/base/remote_path.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace stoker {
namespace {

constexpr std::string_view kHidden = "...";

bool EndsAddress(char c) {
  constexpr std::string_view kEnds = " \"'<>\\";
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || kEnds.find(c) != kEnds.npos;
}

bool IsSameLetters(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, {}, [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
}

struct Authority {
  size_t at;                // what follows "://"; npos: there is no further address
  std::string_view scheme;  // "http://"
};

// Returns where the next address begins.
Authority FindAuthority(std::string_view text, size_t from) {
  constexpr std::string_view kSeparator = "://";
  for (size_t at = from; (at = text.find(kSeparator, at)) != text.npos;) {
    at += kSeparator.size();
    for (const std::string_view scheme : kRemoteSchemes) {
      if (at >= scheme.size() &&
          IsSameLetters(text.substr(at - scheme.size(), scheme.size()), scheme))
        return {at, scheme};
    }
  }
  return {text.npos, {}};
}

// Returns where the parameters of an address begin, at the `?`; its size if it has none. Only web
// servers have addresses with a query of any form: elsewhere a `?` is a character of a pattern,
// unless a parameter of WebHDFS follows.
size_t QueryOf(std::string_view address, std::string_view scheme) {
  if (scheme.starts_with("http")) return std::min(address.find('?'), address.size());
  if (scheme.find("hdfs") == scheme.npos) return address.size();
  constexpr std::string_view kParameters[] = {"delegation", "user.name", "doas", "op", "token"};
  const size_t begin = std::min(address.find('?'), address.size());
  for (size_t at = begin; at < address.size(); at = address.find_first_of("?&", at + 1)) {
    const std::string_view name = address.substr(at + 1, address.find('=', at) - at - 1);
    for (const std::string_view parameter : kParameters) {
      if (IsSameLetters(name, parameter)) return begin;
    }
  }
  return address.size();
}

// Returns where the host or bucket begins, after a user and a password. A secret key may have
// slashes, which end a host; a bucket has neither colon nor `@`.
size_t HostOf(std::string_view address, std::string_view scheme) {
  const size_t end = std::min(address.find_first_of("/?#"), address.size());
  std::string_view searched = address.substr(0, end);
  const bool bucket = scheme == "s3://" || scheme == "gs://";
  if (bucket && searched.find(':') != searched.npos) searched = address;
  const size_t at = searched.rfind('@');
  return at == searched.npos ? 0 : at + 1;
}

// Returns what may be seen of an address, without its scheme.
std::string Shown(std::string_view address, std::string_view scheme) {
  const size_t begin = HostOf(address, scheme);
  const size_t query = std::max(begin, QueryOf(address, scheme));
  std::string shown(address.substr(begin, query - begin));
  if (query == address.size()) return shown;
  // A sentence's own characters that follow the address are not a part of it.
  size_t end = address.size();
  while (end > query + 1 && std::string_view(":;,.)]}").find(address[end - 1]) != address.npos)
    --end;
  const bool hidden_before = address.substr(query + 1).starts_with(kHidden);
  shown += "?";
  shown += kHidden;
  shown += address.substr(hidden_before ? std::max(end, query + 1 + kHidden.size()) : end);
  return shown;
}

}  // namespace

std::string_view RemoteSchemeOf(std::string_view path) {
  for (const std::string_view scheme : kRemoteSchemes) {
    if (IsSameLetters(path.substr(0, scheme.size()), scheme)) return scheme;
  }
  return {};
}

std::string RemoteSchemesText() {
  std::string text;
  for (size_t i = 0; i < std::size(kRemoteSchemes); ++i) {
    if (i > 0) text += i + 1 == std::size(kRemoteSchemes) ? " or " : ", ";
    text += kRemoteSchemes[i];
  }
  return text;
}

std::string WithoutSecrets(std::string_view text) {
  std::string out;
  size_t done = 0;
  while (true) {
    const auto [begin, scheme] = FindAuthority(text, done);
    if (begin == text.npos) break;
    const auto end = static_cast<size_t>(
        std::find_if(text.begin() + static_cast<ptrdiff_t>(begin), text.end(), EndsAddress) -
        text.begin());
    out += text.substr(done, begin - done);
    out += Shown(text.substr(begin, end - begin), scheme);
    done = end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace stoker
