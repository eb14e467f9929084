#include "stoker/io/remote/location.h"

#include <algorithm>
#include <utility>

#include "stoker/base/remote_path.h"

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

// What may not stand in a URL (RFC 3986, section 2) is encoded; what is encoded already stays.
std::string EncodeUrl(std::string_view text) {
  constexpr std::string_view kAllowed = "-._~:/?[]@!$&'()*+,;=%";
  std::string out;
  for (const char c : text) {
    if (IsLetterOrDigit(c) || kAllowed.find(c) != kAllowed.npos) {
      out += c;
    } else {
      AppendEncoded(out, c);
    }
  }
  return out;
}

Result<RemoteLocation> ParseHttp(const std::string& path) {
  RemoteLocation location;
  const size_t host = path.find("://") + 3;
  const std::string_view whole = std::string_view(path).substr(0, path.find('#'));
  const size_t end_of_host = std::min(whole.find_first_of("/?", host), whole.size());
  const size_t at = whole.substr(0, end_of_host).rfind('@');
  const size_t name = at == whole.npos || at < host ? host : at + 1;
  const size_t query = std::min(whole.find('?', host), whole.size());
  location.name = std::string(whole.substr(0, host)) +
                  std::string(whole.substr(name, query - name)) +
                  (query < whole.size() ? "?..." : "");
  if (name == end_of_host)
    return InvalidArgument("{}: the address has no host; write http://HOST/PATH", location.name);
  if (whole.substr(query) == "?...") {
    return InvalidArgument(
        "{}: what follows the ? was left out when this address was stored, since it may be secret; "
        "give the recipe with the whole address again (stoker train RECIPE --resume --run RUN)",
        location.name);
  }
  location.url = EncodeUrl(whole);
  return location;
}

Result<RemoteLocation> ParseS3(const std::string& path) {
  RemoteLocation location{.kind = RemoteLocation::Kind::kS3, .name = path, .url = {}};
  const std::string_view rest = std::string_view(path).substr(std::string_view("s3://").size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  location.bucket = rest.substr(0, slash);
  if (slash < rest.size()) location.key = rest.substr(slash + 1);
  const auto allowed = [](char c) {
    return IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_';
  };
  if (location.bucket.empty() || !std::ranges::all_of(location.bucket, allowed)) {
    return InvalidArgument(
        "{}: '{}' is no name of a bucket, which has letters, digits, dots and dashes; write "
        "s3://BUCKET/KEY",
        path, location.bucket);
  }
  return location;
}

}  // namespace

std::string NameForMessages(const std::string& path) {
  if (!IsRemotePath(path)) return path;
  Result<RemoteLocation> location = ParseRemotePath(path);
  return location.ok() ? std::move(location->name) : "a file on a server";
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
  if (!IsRemotePath(path))
    return InvalidArgument("{}: is no address; one begins with http://, https:// or s3://", path);
  return path.starts_with("s3://") ? ParseS3(path) : ParseHttp(path);
}

}  // namespace stoker
