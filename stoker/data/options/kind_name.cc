#include "stoker/data/options/kind_name.h"

#include <algorithm>

namespace stoker {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsName(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || IsDigit(c) || c == '_'; });
}

// Names that recipes, evaluations or pipelines use for something else.
bool IsReserved(std::string_view noun, std::string_view name) {
  if (noun == "operator") return name == "on_error";
  const bool is_top =
      name.starts_with("top") && std::ranges::all_of(name.substr(3), IsDigit);  // top5
  return noun == "metric" && (name == "loss" || name == "accuracy" || is_top);
}

}  // namespace

Status CheckKindName(std::string_view noun, std::string_view name,
                     const std::vector<std::string>& taken) {
  if (!IsName(name)) {
    return InvalidArgument(
        "{} '{}': a name is made of a-z, 0-9 and _, and begins with a letter; rename it", noun,
        name);
  }
  if (std::ranges::count(taken, name) > 0) {
    return InvalidArgument("{} '{}': there is one of this name already; give yours another", noun,
                           name);
  }
  if (IsReserved(noun, name)) {
    return InvalidArgument("{} '{}': the name has another meaning in recipes; give yours another",
                           noun, name);
  }
  return OkStatus();
}

}  // namespace stoker
