#include "stoker/io/remote/location.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {
namespace {

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void AppendEncoded(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

}  // namespace

std::string NameForMessages(const std::string& path) {
  if (!IsRemotePath(path)) return path;
  Result<RemoteLocation> location = ParseRemotePath(path);
  return location.ok() ? std::move(location->name) : "a file on a server";
}

bool IsOnThisMachine(std::string_view url) {
  constexpr std::string_view kSeparator = "://", kV6 = "[::1]";
  const size_t separator = url.find(kSeparator);
  if (separator == url.npos) return false;
  std::string_view host = url.substr(separator + kSeparator.size());
  host = host.substr(0, host.find_first_of("/?#"));
  if (host.find('@') != host.npos) return false;
  if (host.starts_with(kV6)) return host.size() == kV6.size() || host[kV6.size()] == ':';
  host = host.substr(0, host.find(':'));
  in_addr address{};
  constexpr uint32_t kLoopback = 127, kBitsBelow = 24;
  return host == "localhost" || (::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
                                 ntohl(address.s_addr) >> kBitsBelow == kLoopback);
}

std::string PercentEncode(std::string_view text, bool keep_slashes) {
  std::string out;
  for (const char c : text) {
    const bool plain = IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain || (keep_slashes && c == '/')) {
      out += c;
    } else {
      AppendEncoded(out, c);
    }
  }
  return out;
}

Result<RemoteLocation> ParseRemotePath(const std::string& path) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(path, control))
    return InvalidArgument("an address has a control character in it; check the recipe");
  const RemoteStore* const store = FindRemoteStore(path);
  if (store == nullptr)
    return InvalidArgument("{}: is no address; one begins with {}", path, RemoteSchemesText());
  const std::string_view scheme = RemoteSchemeOf(path);  // in small letters
  return store->Locate(std::string(scheme) + path.substr(scheme.size()));
}

Result<RemoteLocation> ParseBucketPath(const RemoteStore& store, const std::string& path) {
  RemoteLocation location{.store = &store, .name = path};
  const size_t begin = path.find("://") + 3;
  const std::string_view rest = std::string_view(path).substr(begin);
  const size_t slash = std::min(rest.find('/'), rest.size());
  location.bucket = rest.substr(0, slash);
  if (slash < rest.size()) location.key = rest.substr(slash + 1);
  location.root = fmt::format("{}{}/", path.substr(0, begin), location.bucket);
  const auto allowed = [](char c) {
    return IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_';
  };
  const size_t at = path.rfind('@');
  if (location.bucket.find_first_of(":@") != std::string::npos && at != path.npos) {
    return InvalidArgument(
        "{}...{}: has credentials before the @; leave them out: docs/remote.md says where they may "
        "stand",
        path.substr(0, begin), path.substr(at));
  }
  if (location.bucket.empty() || !std::ranges::all_of(location.bucket, allowed)) {
    return InvalidArgument(
        "{}: '{}' is no name of a bucket, which has letters, digits, dots and dashes; write "
        "{}BUCKET/KEY",
        path, location.bucket, path.substr(0, begin));
  }
  return location;
}

}  // namespace stoker
