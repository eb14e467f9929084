#include "stoker/http/request_target.h"

#include <algorithm>
#include <optional>

namespace stoker {
namespace {

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

Result<std::string> Unescaped(std::string_view path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    char c = path[i];
    if (c == '%') {
      const auto high = i + 2 < path.size() + 0 ? HexDigit(path[i + 1]) : std::nullopt;
      const auto low = i + 2 < path.size() + 0 ? HexDigit(path[i + 2]) : std::nullopt;
      if (!high || !low) return InvalidArgument("a '%' of the path begins no escape");
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (IsControl(c)) return InvalidArgument("the path holds a control character");
    out += c;
  }
  return out;
}

}  // namespace

Result<RequestTarget> ParseRequestTarget(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  RequestTarget parsed;
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    const size_t end = std::min(target.find_first_of("/?"), target.size());
    parsed.authority = target.substr(0, end);
    if (parsed.authority.empty()) return InvalidArgument("the target names no host");
    target.remove_prefix(end);
  } else if (!target.starts_with('/')) {
    return InvalidArgument("the target of a request begins with '/'");
  }
  if (target.find('#') != target.npos) return InvalidArgument("a target has no fragment");
  const size_t mark = target.find('?');
  if (mark != target.npos) parsed.query = target.substr(mark + 1);
  for (const char c : parsed.query) {
    if (IsControl(c)) return InvalidArgument("the query holds a control character");
  }
  STOKER_ASSIGN_OR_RETURN(parsed.path, Unescaped(target.substr(0, mark)));
  if (parsed.path.empty()) parsed.path = "/";
  return parsed;
}

}  // namespace stoker
