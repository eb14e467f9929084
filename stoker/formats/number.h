// Parses numbers by one rule for all formats: a number too small for its type becomes 0, a number
// too large is an error.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace stoker {

enum class NumberFault {
  kNone,
  kNoNumber,  // there is no number here
  kTooLarge,  // for the type; of an integer also below its least
};

// Returns whether a decimal number that a floating-point type cannot hold is below 1 in magnitude,
// so too small for the type instead of too large. std::from_chars does not distinguish the two.
bool IsBelowOne(std::string_view number);

// Parses the decimal number at `at`, rounded to the nearest T as by std::from_chars, and moves `at`
// past it. A number below the smallest T (1e-50 as a float) becomes 0 with its sign; one above the
// largest is kTooLarge, not infinity; "inf" and "nan" are numbers. Changes `out` and `at` on kNone
// only.
template <typename T>
NumberFault TakeNumber(const char*& at, const char* end, T& out) {
  const auto [stop, error] = std::from_chars(at, end, out);
  if (error == std::errc::invalid_argument) return NumberFault::kNoNumber;
  if (error != std::errc()) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!IsBelowOne({at, static_cast<size_t>(stop - at)})) return NumberFault::kTooLarge;
      out = *at == '-' ? T{-0.0} : T{0};
    } else {
      return NumberFault::kTooLarge;
    }
  }
  at = stop;
  return NumberFault::kNone;
}

// Parses `text`, all of which must be a number.
template <typename T>
NumberFault ParseNumber(std::string_view text, T& out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  T number{};
  const NumberFault fault = TakeNumber(at, end, number);
  if (fault == NumberFault::kNone && at != end) return NumberFault::kNoNumber;
  if (fault == NumberFault::kNone) out = number;
  return fault;
}

}  // namespace stoker
