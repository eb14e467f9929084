#include "stoker/tools/program/launcher.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace stoker {
namespace {

// Nothing of what is not set or no number.
std::optional<int> NumberOf(const Variable& variable, const char* name) {
  const char* const text = variable(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  return error == std::errc() && end == digits.end() ? std::optional(number) : std::nullopt;
}

}  // namespace

Restarts FindRestarts(const Variable& variable) {
  const int done = NumberOf(variable, "TORCHELASTIC_RESTART_COUNT").value_or(0);
  const int most = NumberOf(variable, "TORCHELASTIC_MAX_RESTARTS").value_or(0);
  return {.done = std::max(done, 0), .most = std::max({done, most, 0})};
}

Restarts FindRestarts() {
  return FindRestarts([](const char* name) -> const char* { return ::getenv(name); });
}

}  // namespace stoker
