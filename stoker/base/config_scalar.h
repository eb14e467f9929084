// Classifies the text of a scalar. Used by the implementations of config.h and options.h.
#pragma once

#include <string_view>

namespace stoker {

// Returns true for what YAML 1.2 reads as true or false: "true", "True", "TRUE" and likewise false.
bool LooksLikeBool(std::string_view text);

// Returns whether it is true. REQUIRES: LooksLikeBool(text).
inline bool IsTrue(std::string_view text) { return text.front() == 't' || text.front() == 'T'; }

// Returns true for a decimal number of any size, with or without sign, fraction and exponent.
bool LooksLikeNumber(std::string_view text);

// Returns true for what YAML reads as null without quotes: an empty text, ~, null.
bool LooksLikeNull(std::string_view text);

}  // namespace stoker
