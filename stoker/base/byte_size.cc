#include "stoker/base/byte_size.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

namespace stoker {
namespace {

// What stands behind the number, in lower case; nothing where there is no such unit.
std::optional<double> FactorOf(std::string unit) {
  if (unit.ends_with('b')) unit.pop_back();
  const double step = unit.ends_with('i') ? 1024 : 1000;
  if (unit.ends_with('i')) unit.pop_back();
  if (unit.empty()) return step == 1000 ? std::optional(1.0) : std::nullopt;
  constexpr std::string_view kPrefixes = "kmgt";
  const size_t power = kPrefixes.find(unit);
  if (unit.size() != 1 || power == kPrefixes.npos) return std::nullopt;
  return std::pow(step, static_cast<double>(power + 1));
}

}  // namespace

std::optional<int64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  std::string unit;
  for (const char c : std::string_view(rest, static_cast<size_t>(end - rest))) {
    if (c == ' ' && unit.empty()) continue;
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::optional<double> factor = FactorOf(std::move(unit));
  const double bytes = factor ? number * *factor : 0;
  if (!(bytes >= 1 && bytes <= 0x1p62)) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

}  // namespace stoker
