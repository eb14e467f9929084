// Hashes of values, for operators that ask which elements have the same one.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/array.h"

namespace stoker {

// Returns 64 bits made of the values of `array` and `seed`, the same on every machine. Equal values
// have equal hashes however they are stored: an integer in each integer dtype and, if it is exact
// there, as a float; -0 as 0; every NaN as the same. Text (uint8 of one dimension) is hashed byte
// by byte with its length, so it never has the hash of a number on purpose. Different values have
// the same hash once in 2^64. The function is part of the format of a run: `split` decides by it.
// Cost: a few nanoseconds and about a byte in 0.3 ns. Thread-safe.
uint64_t HashValues(const Array& array, uint64_t seed);

// Returns that of a text.
uint64_t HashText(std::string_view text, uint64_t seed);

}  // namespace stoker
