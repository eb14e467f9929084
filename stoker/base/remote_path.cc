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

// Where the next address begins, after its "://"; npos if there is none.
size_t FindAuthority(std::string_view text, size_t from) {
  constexpr std::string_view kSeparator = "://";
  for (size_t at = from; (at = text.find(kSeparator, at)) != text.npos; at += kSeparator.size()) {
    const std::string_view before = text.substr(0, at);
    if (before.ends_with("http") || before.ends_with("https")) return at + kSeparator.size();
  }
  return text.npos;
}

// The part of an address after its "://" that may be shown.
std::string Shown(std::string_view address) {
  const size_t query = std::min(address.find('?'), address.size());
  const size_t host_end = std::min(address.find_first_of("/?#"), address.size());
  const size_t at = address.substr(0, host_end).rfind('@');
  const size_t begin = at == address.npos ? 0 : at + 1;
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
  for (size_t begin; (begin = FindAuthority(text, done)) != text.npos;) {
    const auto end = static_cast<size_t>(
        std::find_if(text.begin() + static_cast<ptrdiff_t>(begin), text.end(), EndsAddress) -
        text.begin());
    out += text.substr(done, begin - done);
    out += Shown(text.substr(begin, end - begin));
    done = end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace stoker
