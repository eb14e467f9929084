#include "stoker/base/byte_size.h"

#include <strings.h>

#include <charconv>
#include <string_view>

namespace stoker {
namespace {

struct Unit {
  std::string_view name;
  int64_t bytes;
};
// From the largest to the smallest.
constexpr Unit kUnits[] = {{"TiB", int64_t{1} << 40}, {"TB", 1'000'000'000'000},
                           {"GiB", int64_t{1} << 30}, {"GB", 1'000'000'000},
                           {"MiB", int64_t{1} << 20}, {"MB", 1'000'000},
                           {"KiB", int64_t{1} << 10}, {"kB", 1'000}};

Status NotASize(const std::string& text) {
  return InvalidArgument("'{}' is not a size in bytes; write it like 50GB, 32MiB or 1000000", text);
}

// Whether they are the same text, in upper or lower case.
bool IsSame(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Result<int64_t> ParseByteSize(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number >= 0)) return NotASize(text);
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  double scale = unit.empty() || IsSame(unit, "B") ? 1 : 0;
  for (const Unit& known : kUnits) {
    if (IsSame(unit, known.name) || IsSame(unit, known.name.substr(0, known.name.size() - 1)))
      scale = static_cast<double>(known.bytes);
  }
  constexpr double kMost = 9e18;
  if (scale == 0 || !(number * scale < kMost)) return NotASize(text);
  return static_cast<int64_t>(number * scale);
}

std::string ByteSizeText(int64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  }
  return std::to_string(bytes);
}

}  // namespace stoker
