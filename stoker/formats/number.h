// Numbers in text, one rule for all formats: what is too small for a type becomes 0, what is too
// large for it is an error.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace stoker {

enum class NumberFault {
  kNone,
  kNoNumber,  // none begins here
  kTooLarge,  // for the type; of an integer also below its least
};

// Whether a decimal number that a floating-point type cannot hold is below 1 in size: then it is
// too small for the type, else too large. std::from_chars says the same of both.
bool IsBelowOne(std::string_view number);

// The number at `at` in decimal, rounded to the nearest T as std::from_chars does, and moves `at`
// behind it. Below the smallest T (1e-50 as a float) it is 0, with the number's sign; above the
// largest it is kTooLarge, not infinity; "inf" and "nan" are numbers. `out` and `at` are changed on
// kNone only.
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

// The same where all of `text` is to be a number.
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
