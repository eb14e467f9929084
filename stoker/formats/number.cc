#include "stoker/formats/number.h"

#include <algorithm>
#include <cstdint>

namespace stoker {

bool IsBelowOne(std::string_view number) {
  const size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  const size_t point = std::min(digits.find('.'), digits.size());
  const size_t first = std::min(digits.find_first_of("123456789"), digits.size());
  // The number is 0.d... times ten to this power, d being its first digit that is not 0.
  int64_t power = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  if (first > point) ++power;  // the point itself is between them
  if (mark == number.size()) return power <= 0;
  std::string_view exponent = number.substr(mark + 1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  int64_t value = 0;
  const auto result = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  if (result.ec == std::errc::result_out_of_range) return negative;
  // No text has so many digits that the sum could overflow on this side of zero.
  return negative ? power <= value : power <= -value;
}

}  // namespace stoker
