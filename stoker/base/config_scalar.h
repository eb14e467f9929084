// What the text of a scalar looks like. Shared by the parts of config.h and options.h.
#pragma once

#include <string_view>

namespace stoker {

// "true" or "false".
bool LooksLikeBool(std::string_view text);

// A decimal number, with or without sign, fraction and exponent, whatever its size.
bool LooksLikeNumber(std::string_view text);

// What YAML reads as nothing when it stands without quotes: an empty text, ~, null.
bool LooksLikeNull(std::string_view text);

}  // namespace stoker
