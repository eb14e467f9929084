// Classifies the text of a scalar. Used by the implementations of config.h and options.h.
#pragma once

#include <string_view>

namespace stoker {

// Returns true for "true" and "false".
bool LooksLikeBool(std::string_view text);

// Returns true for a decimal number of any size, with or without sign, fraction and exponent.
bool LooksLikeNumber(std::string_view text);

// Returns true for what YAML reads as null without quotes: an empty text, ~, null.
bool LooksLikeNull(std::string_view text);

}  // namespace stoker
